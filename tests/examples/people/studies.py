"""Small studies for tests."""

from momus.text.corpus import Corpus, Document, Section
from momus_people.protocol import Protocol
from momus_people.study import make_study

HOSTILE = (
    '<img src=x onerror="document.title=\'hacked\'"><script>document.title="hacked"</script> </script><script>alert(1)'
    "</script> ${7*7} {{7*7}} javascript:alert(1) \u202egnp.exe \x00\x1b[31m"
)
WORDS = "The ferry left the harbour early and nobody on board had seen the captain since the evening before. "


def corpora(n=40, sections=False, hostile=False):
    """Three corpora of n documents that answer the same prompts."""
    found = {}
    for name in ("real", "model-a", "model-b"):
        documents = []
        for i in range(n):
            text = f"{WORDS * 3}Story {i} by {name[-1]} ends here. {HOSTILE if hostile else ''} {WORDS}"
            if sections:
                parts = tuple(
                    Section(f"{WORDS}Part {k} of {i}.", t) for k, t in enumerate(("intro", "method", "result"))
                )
                documents.append(Document(f"{name}:{i}", parts, prompt=f"p{i}"))
            else:
                documents.append(Document.plain(f"{name}:{i}", text, prompt=f"p{i}"))
        found[name] = Corpus.from_documents(documents, name)
    return found


def study(n=40, hostile=False, **settings):
    """A study of these corpora, without a run."""
    settings = {"items": 24, "raters": 4, "words": 40, **settings}
    return make_study(None, corpora(n, bool(settings.get("labels")), hostile), Protocol(**settings))[0]
