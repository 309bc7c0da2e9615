"""Gold coreference in the layouts of CoNLL: words, mentions, and what is said of files that hold none."""

import os
import sys
import tarfile
from pathlib import Path

import pytest

from momus.errors import ReadingError

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "reproduce"))
from conll import read_conll

GUM = """# newdoc id = GUM_one
# global.Entity = GRP-etype-infstat-centering-minspan-link-identity
# sent_id = 1
1\tMr.\t_\t_\t_\t_\t_\t_\t_\tEntity=(12-person-new-cf1-1,2-sgl-Mr%2E_Hale
2\tHale\t_\t_\t_\t_\t_\t_\t_\tEntity=12)
3-4\tdoesn't\t_\t_\t_\t_\t_\t_\t_\t_
3\tdoes\t_\t_\t_\t_\t_\t_\t_\t_
4\tn't\t_\t_\t_\t_\t_\t_\t_\t_
5\tsee\t_\t_\t_\t_\t_\t_\t_\t_
6\this\t_\t_\t_\t_\t_\t_\t_\tEntity=(13-person-new-cf2-2-coref(12-person-giv-cf1-1-ana)
7\tdaughter\t_\t_\t_\t_\t_\t_\t_\tEntity=13)|SpaceAfter=No
8\t.\t_\t_\t_\t_\t_\t_\t_\t_

# sent_id = 2
1\tShe\t_\t_\t_\t_\t_\t_\t_\tEntity=(13-person-giv-cf1-1-ana)
2\tsmiled\t_\t_\t_\t_\t_\t_\t_\t_

# newdoc id = GUM_two
1\tHale\t_\t_\t_\t_\t_\t_\t_\tEntity=(12-person-new-cf1-1-sgl)
"""
UD = """# newdoc id = cs
# global.Entity = eid-etype-head-other
1\tHe\t_\t_\t_\t_\t_\t_\t_\tEntity=(e5[1/2]-person-1-x)
1.1\t_\t_\t_\t_\t_\t_\t_\t_\tEntity=(e6-person-1-)
2\tlooked\t_\t_\t_\t_\t_\t_\t_\t_
3\tit\t_\t_\t_\t_\t_\t_\t_\tEntity=(e7--1-(e8--1-)
4\tup\t_\t_\t_\t_\t_\t_\t_\tEntity=(e5[2/2])e7)
"""
ONTO = """#begin document (bc/cnn/00/x); part 000
bc/cnn/00/x\t0\t0\tMr.\tNNP\t*\t-\t-\t-\tA\t*\t(3
bc/cnn/00/x\t0\t1\tHale\tNNP\t*\t-\t-\t-\tA\t*\t3)

bc/cnn/00/x\t0\t0\tHe\tPRP\t*\t-\t-\t-\tB\t*\t(3)|(4)
#end document
#begin document (bc/cnn/00/x); part 001
bc/cnn/00/x   1   0   #   NNP   *   -   -   -   A   *   (0)
#end document
"""
SEMEVAL = "#begin document 10_x\n1\tShe\tshe\t_\t(1)\n2\tsmiled\tsmile\t_\t_\n#end document 10_x\n"
PLAIN = "Mr.\t(1\nHale\t1)\n\nHe\t(1)\nleft\t-\n"


def spans(corpus, chains, id):
    text, found = corpus[corpus.ids.index(id)].text, chains[id]
    rows = zip(found.starts.tolist(), found.ends.tolist(), found.entities.tolist(), strict=True)
    return sorted((text[a:b], e) for a, b, e in rows)


def read(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    return read_conll(tmp_path / name)


def test_conllu_as_gum_writes_it(tmp_path):
    corpus, chains = read(tmp_path, "a.conllu", GUM)
    assert corpus.ids == ["GUM_one", "GUM_two"]
    assert corpus[0].text == "Mr. Hale doesn't see his daughter.\nShe smiled"
    assert spans(corpus, chains, "GUM_one") == [("Mr. Hale", 12), ("She", 13), ("his", 12), ("his daughter", 13)]
    assert [corpus[0].text[s] for s in chains["GUM_one"].sentences] == ["M", "S"]


def test_mentions_in_pieces_of_empty_nodes_and_of_ids_that_are_no_numbers(tmp_path):
    corpus, chains = read(tmp_path, "a.conllu", UD)
    found = spans(corpus, chains, "cs")
    assert [text for text, _ in found] == ["He", "it", "it up"]
    assert len({entity for _, entity in found}) == 3


def test_ontonotes_parts_semeval_and_two_columns(tmp_path):
    corpus, chains = read(tmp_path, "x.v4_gold_conll", ONTO)
    assert corpus.ids == ["bc/cnn/00/x", "bc/cnn/00/x#001"]
    assert spans(corpus, chains, "bc/cnn/00/x") == [("He", 3), ("He", 4), ("Mr. Hale", 3)]
    assert spans(corpus, chains, "bc/cnn/00/x#001") == [("#", 0)]
    corpus, chains = read(tmp_path, "s.conll", SEMEVAL)
    assert spans(corpus, chains, "10_x") == [("She", 1)]
    corpus, chains = read(tmp_path, "plain.conll", PLAIN)
    assert spans(corpus, chains, "plain") == [("He", 1), ("Mr. Hale", 1)]
    assert read_conll(tmp_path)[0].ids == ["plain", "10_x", "bc/cnn/00/x", "bc/cnn/00/x#001"]


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.conllu", GUM.replace("Entity=", "Coref="), r"without coreference: the last column holds .*Coref"),
        ("a.conllu", GUM.replace("Entity=13)|", "Entity=14)|"), r"line 11: a mention ends .*'14'"),
        ("a.conllu", GUM.replace("Entity=12)\n", "Entity=12\n"), r"line 5: Entity=12 is not understood at '12'"),
        ("a.conllu", GUM.replace("Entity=12)\n", "_\n"), r"in 'GUM_one', a mention of '12' begins and does not end"),
        ("a.conll", PLAIN.replace("-", "NN"), r"line 5: the last column is 'NN', which is no chain \(two columns"),
        ("a.conll", "a\tb\tc\n", r"line 1: 3 columns \(a \| b \| c\), which is no layout"),
        ("a.conll", "#begin document (x); part 0\n#end document\n", "no words"),
        ("a.conll", PLAIN.replace("\n\n", "\n#begin document a\n"), "a second document has the id 'a'"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, name, content, found):
    with pytest.raises(ReadingError, match=found) as error:
        read(tmp_path, name, content)
    assert error.value.hint


def test_litbank_is_read_whole(tmp_path):
    data = Path(os.environ.get("MOMUS_DATA", "../shared/data")) / "litbank" / "coref-conll.tar.gz"
    if not data.exists():
        pytest.skip(f"{data} is not there")
    with tarfile.open(data) as archive:
        archive.extractall(tmp_path, filter="data")
    folder = next(tmp_path.rglob("*.conll")).parent
    corpus, chains = read_conll(folder)
    assert (len(corpus), sum(len(c.starts) for c in chains.values())) == (100, 29103)


CONLL = """#begin document (one); part 0
one\t0\t0\tMr.\t_\t(0
one\t0\t1\tHale\t_\t0)
one\t0\t2\tsaw\t_\t_
one\t0\t3\this\t_\t(1|(0)
one\t0\t4\tdaughter\t_\t1)
one\t0\t5\t.\t_\t_

one\t0\t0\tShe\t_\t(1)
one\t0\t1\tsmiled\t_\t_
#end document
"""


def test_conll_files_are_read(tmp_path):
    (tmp_path / "one.conll").write_text(CONLL)
    corpus, found = read_conll(tmp_path)
    text, chains = corpus[0].text, found["one"]
    assert text == "Mr. Hale saw his daughter.\nShe smiled"
    spans = zip(chains.starts, chains.ends, chains.entities, strict=True)
    assert [(text[a:b], e) for a, b, e in spans] == [("Mr. Hale", 0), ("his daughter", 1), ("his", 0), ("She", 1)]
    assert [text[s] for s in chains.sentences] == ["M", "S"]
    (tmp_path / "one.conll").write_text(CONLL.replace("(1|(0)", "1)|(0)"))
    with pytest.raises(ReadingError, match="line 5: a mention ends"):
        read_conll(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReadingError, match="no CoNLL document"):
        read_conll(tmp_path / "empty")
