"""Checks of the scripts that a critic claims, and everyday sentences in ten scripts, drawn into documents; seeded."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from momus.conformance.subject import Skip, Subject, assert_same, bare_rows
from momus.critic import Critic, RunningTextCritic
from momus.critic.hooks import claimed_scripts, row_unit, scored_units, tokenizer_of
from momus.critic.scoring import score
from momus.errors import FittingError
from momus.text.corpus import Corpus, Document, Section
from momus.text.scripts import Scripts
from momus.text.words import has_icu


class Sample(NamedTuple):
    """Sentences in a script, and the ISO 15924 codes of their letters."""

    codes: tuple[str, ...]
    titles: tuple[str, str, str]
    sentences: tuple[str, ...]


SAMPLES = {
    "Latin": Sample(
        ("Latn",),
        ("Morning", "Work", "Evening"),
        (
            "The baker opens the shop before sunrise.",
            "Children carry bread home through the narrow street.",
            "My sister reads the newspaper and drinks her coffee.",
            "The teacher writes three long words on the board.",
            "Nobody knows when the train from the north will arrive.",
            "We repaired the old bridge, but the river rose again.",
            "At night the dogs bark, and the café’s lights go out.",
            "She asked: “Where is the key?”",
        ),
    ),
    "Cyrillic": Sample(
        ("Cyrl",),
        ("Утро", "Работа", "Вечер"),
        (
            "Пекарь открывает лавку до восхода солнца.",
            "Дети несут хлеб домой по узкой улице.",
            "Моя сестра читает газету и пьёт кофе.",
            "Учитель пишет на доске три длинных слова.",
            "Никто не знает, когда придёт поезд с севера.",
            "Мы починили старый мост, но река снова поднялась.",
            "Ночью лают собаки, и в окнах гаснет свет.",
            "Она спросила: «Где ключ?»",
        ),
    ),
    "Greek": Sample(
        ("Grek",),
        ("Πρωί", "Δουλειά", "Βράδυ"),
        (
            "Ο φούρναρης ανοίγει το μαγαζί πριν από την ανατολή.",
            "Τα παιδιά φέρνουν ψωμί στο σπίτι από τον στενό δρόμο.",
            "Η αδελφή μου διαβάζει την εφημερίδα και πίνει καφέ.",
            "Ο δάσκαλος γράφει τρεις μεγάλες λέξεις στον πίνακα.",
            "Κανείς δεν ξέρει πότε θα φτάσει το τρένο από τον βορρά.",
            "Φτιάξαμε την παλιά γέφυρα, αλλά το ποτάμι φούσκωσε πάλι.",
            "Τη νύχτα γαβγίζουν τα σκυλιά και σβήνουν τα φώτα.",
            "Εκείνη ρώτησε: «Πού είναι το κλειδί;»",
        ),
    ),
    "Arabic": Sample(
        ("Arab",),
        ("الصباح", "العمل", "المساء"),
        (
            "يفتح الخباز دكانه قبل شروق الشمس.",
            "يحمل الأطفال الخبز إلى البيت عبر الشارع الضيق.",
            "تقرأ أختي الجريدة وتشرب القهوة.",
            "يكتب المعلم ثلاث كلمات طويلة على اللوح.",
            "لا أحد يعرف متى يصل القطار من الشمال.",
            "أصلحنا الجسر القديم، لكن النهر ارتفع مرة أخرى.",
            "في الليل تنبح الكلاب وتنطفئ الأضواء.",
            "سَأَلَتْ: أَيْنَ المِفْتَاحُ؟",
        ),
    ),
    "Hebrew": Sample(
        ("Hebr",),
        ("בוקר", "עבודה", "ערב"),
        (
            "האופה פותח את החנות לפני הזריחה.",
            "הילדים נושאים לחם הביתה ברחוב הצר.",
            "אחותי קוראת עיתון ושותה קפה.",
            "המורה כותב שלוש מילים ארוכות על הלוח.",
            "איש אינו יודע מתי תגיע הרכבת מהצפון.",
            "תיקנו את הגשר הישן, אבל הנהר עלה שוב.",
            "בלילה הכלבים נובחים והאורות כבים.",
            "הִיא שָׁאֲלָה: אֵיפֹה הַמַּפְתֵּחַ?",
        ),
    ),
    "Devanagari": Sample(
        ("Deva",),
        ("सुबह", "काम", "शाम"),
        (
            "नानबाई सूरज निकलने से पहले दुकान खोलता है।",
            "बच्चे तंग गली से रोटी घर ले जाते हैं।",
            "मेरी बहन अख़बार पढ़ती है और कॉफ़ी पीती है।",
            "शिक्षक तख़्ते पर तीन लंबे शब्द लिखते हैं।",
            "कोई नहीं जानता कि उत्तर से रेलगाड़ी कब आएगी।",
            "हमने पुराना पुल ठीक किया, पर नदी फिर बढ़ गई।",
            "रात को कुत्ते भौंकते हैं और बत्तियाँ बुझ जाती हैं।",
            "उसने पूछा: चाबी कहाँ है?",
        ),
    ),
    "Thai": Sample(
        ("Thai",),
        ("ตอนเช้า", "การทำงาน", "ตอนเย็น"),
        (
            "คนทำขนมปังเปิดร้านก่อนพระอาทิตย์ขึ้น",
            "เด็ก ๆ ถือขนมปังกลับบ้านผ่านถนนแคบ",
            "พี่สาวของฉันอ่านหนังสือพิมพ์และดื่มกาแฟ",
            "ครูเขียนคำยาวสามคำบนกระดาน",
            "ไม่มีใครรู้ว่ารถไฟจากทางเหนือจะมาถึงเมื่อไร",
            "เราซ่อมสะพานเก่าแล้ว แต่แม่น้ำก็สูงขึ้นอีก",
            "ตอนกลางคืนสุนัขเห่าและไฟก็ดับ",
            "เธอถามว่ากุญแจอยู่ที่ไหน",
        ),
    ),
    "Chinese": Sample(
        ("Hani",),
        ("早上", "工作", "晚上"),
        (
            "面包师在日出之前打开店门。",
            "孩子们穿过狭窄的街道把面包带回家。",
            "我的姐姐一边看报纸一边喝咖啡。",
            "老师在黑板上写了三个很长的词。",
            "没有人知道北方来的火车什么时候到达。",
            "我们修好了旧桥，可是河水又涨了。",
            "夜里狗在叫，灯也灭了。",
            "她问道：“钥匙在哪里？”",
        ),
    ),
    "Japanese": Sample(
        ("Hani", "Hira", "Kana"),
        ("朝", "仕事", "夜"),
        (
            "パン屋は日の出の前に店を開けます。",
            "子供たちは狭い道を通ってパンを家に運びます。",
            "姉は新聞を読みながらコーヒーを飲んでいます。",
            "先生は黒板に長い言葉を三つ書きました。",
            "北からの列車がいつ着くのか誰も知りません。",
            "私たちは古い橋を直しましたが、川はまた増水しました。",
            "夜になると犬がほえて、明かりが消えます。",
            "彼女は「鍵はどこですか」と聞きました。",
        ),
    ),
    "Korean": Sample(
        ("Hang",),
        ("아침", "일", "저녁"),
        (
            "빵집 주인은 해가 뜨기 전에 가게 문을 연다.",
            "아이들은 좁은 길을 지나 빵을 집으로 가져간다.",
            "누나는 신문을 읽으면서 커피를 마신다.",
            "선생님은 칠판에 긴 낱말 세 개를 썼다.",
            "북쪽에서 오는 기차가 언제 도착할지 아무도 모른다.",
            "우리는 낡은 다리를 고쳤지만 강물이 다시 불어났다.",
            "밤에는 개들이 짖고 불이 꺼진다.",
            "그녀가 물었다. “열쇠는 어디에 있어요?”",
        ),
    ),
}
TRAPS = ("👩‍👩‍👧‍👦 🎉🎉 ❤️", "\u200f\u202b \u202c\u200e", "cafe\u0301 nai\u0308ve")
"""Emoji, marks of direction, and decomposed letters, one of which ends some of the documents."""
DOCUMENTS = 16
"""Documents per script."""


@lru_cache(maxsize=32)
def documents(script: str) -> Corpus:
    """Documents of three titled sections in a script, each of one to four sentences drawn at random.

    >>> documents("Thai")[0].sections[0].title
    'ตอนเช้า'
    """
    sample = SAMPLES[script]
    rng = np.random.default_rng(list(SAMPLES).index(script))
    collected = []
    for i in range(DOCUMENTS):
        sections = []
        for number, title in enumerate(sample.titles):
            # each section prefers its own three sentences of the eight
            weights = np.where(np.arange(8) // 3 == number, 4.0, 1.0)
            chosen = rng.choice(8, int(rng.integers(1, 5)), p=weights / weights.sum())
            sections.append(Section(" ".join(sample.sentences[j] for j in chosen), title))
        if i % 4 == 0:
            last = sections[-1]
            sections[-1] = Section(f"{last.text} {TRAPS[i // 4 % len(TRAPS)]}", last.title)
        collected.append(Document(f"{script.lower()}-{i:02d}", tuple(sections), prompt=f"{script}-{i}"))
    return Corpus.from_documents(collected, name=script)


def claimed_samples(claimed: Scripts) -> list[str]:
    """The scripts of the samples that a critic claims."""
    return [name for name, sample in SAMPLES.items() if all(code in claimed for code in sample.codes)]


def together(scripts: list[str], per_script: int = DOCUMENTS) -> Corpus:
    """The first documents of several scripts as one text."""
    return Corpus.from_documents([documents(name)[i] for name in scripts for i in range(per_script)], name="scripts")


LONGEST = 20
"""Characters of a word of the samples, at most; the longest has 14."""


FEW = 4
"""Documents of each script that a critic scores which was fitted on other text."""


def claimed_scripts_are_read(s: Subject) -> None:
    """Texts in each of ten scripts that the critic claims are split into words, and score alike in any batch."""
    claimed = _claimed(s)
    words_are_found(s.critic, together(claimed))
    batches_agree(s.fitted, together(claimed, FEW))


def claimed_scripts_can_be_fitted(s: Subject) -> None:
    """Fitted on text in each of ten scripts that it claims, the critic scores it alike in any batch."""
    if isinstance(s.critic, RunningTextCritic):
        raise Skip(f"the samples are shorter than a {row_unit(s.critic)}")
    fits = 0
    for name in _claimed(s):
        text = documents(name)
        try:
            fitted = s.fit(text)
        except FittingError:  # the samples lack what the critic needs
            continue
        fits += 1
        try:
            batches_agree(fitted, text)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error
    if not fits:
        raise Skip("the samples are too short for the critic to be fitted on")


def _claimed(s: Subject) -> list[str]:
    """The scripts of the samples that the critic claims."""
    claimed = claimed_samples(claimed_scripts(s.critic))
    if not claimed:
        raise Skip(f"the critic reads {claimed_scripts(s.critic).words()}, which the samples do not have")
    return claimed


def words_are_found(critic: Critic[object], text: Corpus) -> None:
    """No token of the critic's tokenizer is a whole clause or a mark torn from its letter.

    Raises
    ------
    AssertionError
        One is.
    """
    tokenizer = tokenizer_of(critic)
    if tokenizer is None or not tokenizer.dictionaries:
        return
    table = text.tokens(tokenizer)
    for word in table.vocabulary:
        assert len(word) <= LONGEST, f"{word!r} is one token of tokenizer {tokenizer.name!r}"
        torn = unicodedata.category(word[0])[0] == "M" and not "\ufe00" <= word[0] <= "\ufe0f"
        assert not torn, f"token {word!r} of tokenizer {tokenizer.name!r} begins with a mark of the letter before it"


def batches_agree(fitted: Critic[object], text: Corpus) -> None:
    """Documents get the same scores all at once, in batches of three, and each alone.

    Raises
    ------
    AssertionError
        Some do not.
    """
    units = scored_units(fitted, text)
    whole = score(fitted, units)
    small = score(fitted, units, batch_size=3)
    assert_same(whole, small, "with batches of 3")
    for row in np.linspace(0, len(units) - 1, min(len(units), 10)).astype(int).tolist():
        alone = score(fitted, Corpus(units.table.slice(row, 1), units.name))
        assert_same(bare_rows(whole, [row]), alone, "alone")
    if not has_icu():
        return
    assert all(r is not None or np.isfinite(x) for r, x in zip(whole.reasons, whole.nll, strict=True))


CHECKS = (claimed_scripts_are_read, claimed_scripts_can_be_fitted)
