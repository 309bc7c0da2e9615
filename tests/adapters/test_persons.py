"""The offline resolver on passages whose coreference is plain, and what it must not be thrown by."""

import sys

import numpy as np
import pytest

from momus import Corpus
from momus.errors import UsageError
from momus.text.mentions import Resolver

pytest.importorskip("spacy")
from momus_adapters.persons import SpacyPersons
from momus_adapters.persons.mentions import gender_of
from momus_adapters.tagging import cut


@pytest.fixture(scope="module")
def resolver():
    return SpacyPersons()


def chains(resolver, text):
    """Mentions of each entity as words, in order of their first mention."""
    (r,) = resolver.resolve(Corpus.from_texts([text]))
    found = {}
    for a, b, e in zip(r.starts, r.ends, r.entities, strict=True):
        found.setdefault(int(e), []).append(text[a:b])
    return list(found.values())


def test_pronouns_follow_gender_and_number(resolver):
    found = chains(resolver, "Mr. Hale met Margaret in the garden. She smiled at him, and he gave her a rose.")
    assert ["Mr. Hale", "him", "he"] in found
    assert ["Margaret", "She", "her"] in found


def test_parts_of_names_are_one_person_and_titles_tell_two_apart(resolver):
    found = chains(resolver, "Emma Woodhouse was handsome. Mr. Woodhouse was old. Emma loved Mr. Woodhouse.")
    assert ["Emma Woodhouse", "Emma"] in found
    assert ["Mr. Woodhouse", "Mr. Woodhouse"] in found


def test_a_repeated_noun_is_taken_up_and_a_new_one_is_not(resolver):
    found = chains(resolver, "A stranger came to the inn. The stranger sat down. A stranger from the north followed.")
    assert ["A stranger", "The stranger"] in found


def test_who_speaks_is_meant_by_i(resolver):
    found = chains(resolver, "“I am tired,” said Margaret. Mr. Hale was silent. “I know it,” he said.")
    margaret = next(c for c in found if "Margaret" in c)
    hale = next(c for c in found if "Mr. Hale" in c)
    assert "I" in margaret
    assert "I" in hale


def test_an_object_is_not_the_subject_of_its_verb(resolver):
    found = chains(resolver, "Anna came in. Mary saw Anna. She hit her.")
    she, her = (next(i for i, c in enumerate(found) if w in c) for w in ("She", "her"))
    assert she != her


@pytest.mark.parametrize(
    "text", ["", " \n\n", "....", "It rained.", "“" * 50, "他走了。", "he " * 3000, "\x00 she \ud7ff"]
)
def test_odd_text_is_resolved(resolver, text):
    (r,) = resolver.resolve(Corpus.from_texts([text]))
    assert len(r.starts) == len(r.ends) == len(r.entities)
    assert (r.ends <= len(text)).all()
    assert (r.starts < r.ends).all()


def test_a_document_does_not_depend_on_its_company(resolver):
    texts = ["Mary saw John. He ran.", "She slept. Tom woke her.", "The captain spoke. He was old."]
    together = resolver.resolve(Corpus.from_texts(texts))
    for text, r in zip(texts, together, strict=True):
        (alone,) = resolver.resolve(Corpus.from_texts([text]))
        assert np.array_equal(alone.entities, r.entities)
    assert isinstance(resolver, Resolver)
    assert "spacy-persons" in resolver.version


def test_without_spacy_the_other_critics_go_on(monkeypatch):
    import momus
    from momus.critic.tools import _LOADED
    from momus.engine import chosen

    _LOADED.clear()
    monkeypatch.setitem(sys.modules, "spacy", None)
    monkeypatch.setattr(chosen, "critic_names", lambda: ["length", "coreference"])
    texts = [f"Anna saw him. He ran {'on ' * i}" for i in range(40)]
    found = momus.compare(texts, {"g": texts[:20]}, seed=1)
    assert any("'coreference' (" in w for w in found.warnings)
    with pytest.raises(UsageError, match="needs spaCy"):
        momus.compare(texts, {"g": texts[:20]}, seed=1, critics=["coreference"])


def test_long_text_is_cut_without_loss():
    text = "one two\nthree " * 1000
    parts = cut(text, 100)
    assert "".join(parts) == text
    assert max(map(len, parts)) <= 100
    assert "".join(cut("x" * 1000, 99)) == "x" * 1000


def test_words_and_missing_pipelines():
    assert [gender_of(w) for w in ("father", "policeman", "spokeswoman", "friend", "stone")] == [
        "m",
        "m",
        "f",
        "",
        None,
    ]
    with pytest.raises(UsageError, match="no pipeline 'nothing'"):
        SpacyPersons(model="nothing").resolve(Corpus.from_texts(["He ran."]))


def test_a_place_is_no_person_and_a_person_may_be_named_like_a_place(resolver):
    places = "Mr. Hale lived in London. In London it rained. He left London in May, and came to London again."
    assert not any("London" in c for c in chains(resolver, places))
    person = "Florence smiled. “I know,” said Florence. She took his hand. “Come, Florence,” he said. Florence laughed."
    (florence,) = [c for c in chains(resolver, person) if "Florence" in c]
    assert florence.count("Florence") == 4
    assert "She" in florence


def test_forms_of_address_and_old_pronouns_mean_the_addressee(resolver):
    text = "“Wilt thou come, Margaret?” asked Mr. Hale. “Yes, papa,” said Margaret."
    found = chains(resolver, text)
    margaret = next(c for c in found if "Margaret" in c)
    assert "thou" in margaret
    assert "papa" in next(c for c in found if "Mr. Hale" in c)


def test_the_narrator_is_not_he_to_himself(resolver):
    found = chains(resolver, "I met an old sailor at the inn. He told me of the sea, and I gave him my coat.")
    assert ["I", "me", "I", "my"] in found
    assert any({"He", "him"} <= set(c) for c in found)


def test_versions_are_those_of_the_loaded_pipeline(resolver):
    import spacy

    from momus_adapters.tagging import load_pipeline, versions

    meta = load_pipeline("").meta
    assert versions("") == f"spacy {spacy.__version__}; {meta['lang']}_{meta['name']} {meta['version']}"


def test_texts_are_parsed_alike_alone_and_together(resolver):
    from momus_adapters.tagging import load_pipeline, parse

    texts = ["Margaret slept. She was tired.", "", "He met Mr. Hale in London, and they talked."]
    together, alone = parse(load_pipeline(""), texts), [parse(load_pipeline(""), [text])[0] for text in texts]
    assert together[1] is alone[1] is None
    for a, b in zip(together, alone, strict=True):
        assert [(t.text, t.dep_, t.ent_type_) for t in a or ()] == [(t.text, t.dep_, t.ent_type_) for t in b or ()]


def test_weights_match_their_features(resolver):
    from momus_adapters.persons import speech
    from momus_adapters.persons.antecedents import NOUN, PRONOUN
    from momus_adapters.persons.mentions import find, quotations
    from momus_adapters.persons.resolver import Linker
    from momus_adapters.tagging import load_pipeline, parse

    seen = {}

    class Watched(Linker):
        def decide(self, weights, of, candidates):
            seen.setdefault(id(weights), set()).update(*candidates.values())
            return super().decide(weights, of, candidates)

    text = "“You are tired,” said Margaret to the man. He sat. “I am,” said Mr. Hale. The man slept."
    (doc,) = parse(load_pipeline(""), [text])
    inside, quotes = quotations(doc)
    Watched(doc, find(doc, inside), quotes).run()
    for weights in (PRONOUN, NOUN, speech.SPEAKER, speech.ADDRESSEE):
        assert seen[id(weights)] == set(weights)
