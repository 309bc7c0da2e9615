"""Take chat markup within a text apart: ChatML, Llama, Gemma, ``Human: … Assistant: …`` and other templates."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

ROLES = {
    **dict.fromkeys(("gpt", "chatgpt", "model", "ai", "bot", "chatbot", "aimessage", "aimessagechunk"), "assistant"),
    **dict.fromkeys(("human", "prompter", "humanmessage", "inst"), "user"),
    **dict.fromkeys(("developer", "systemmessage"), "system"),
    **dict.fromkeys(("toolmessage", "function", "ipython", "observation"), "tool"),
}
"""The roles of OpenAI's interface, by what others call them."""
SPOKEN = {"[/inst]": "assistant", "[inst]": "user", "response": "assistant", "instruction": "user", "input": "user"}
LEAD = 400
"""Characters that may stand before the first turn of a chat that words mark, such as what is said of the chat."""
BEGIN = re.compile(r"<s>|<\|begin_of_text\|>|<bos>|<｜begin▁of▁sentence｜>|<\|endoftext\|>|\[gMASK\]<sop>")
STOP = re.compile(
    r"\s*(?:<\|(?:im_end|eot_id|end_of_text|endoftext|end|return|END_OF_TURN_TOKEN)\|>|<end_of_turn>|</s>"
    r"|<｜end▁of▁sentence｜>|\s)+$"
)
"""What a template writes after an answer."""
THOUGHT = re.compile(r"\s*(?:<think(?:ing)?>)?(.*?)</think(?:ing)?>\s*", re.DOTALL)
"""Reasoning before an answer; templates may write its first mark into the prompt."""


class Markup(NamedTuple):
    """How a template marks turns.

    Attributes
    ----------
    signs
        Strings, with two spaces between them, of which a text in this markup holds one.
    header
        Expression of what stands before a turn; the group ``role`` names who speaks.
    end
        What ends a turn.
    lead
        Whether a text may begin with something else, of at most `LEAD` characters.
    words
        Whether turns are marked by words, which other texts may hold as well.
    """

    signs: str
    header: str
    end: str = r"(?!)"
    lead: bool = False
    words: bool = False


MARKUPS = (
    Markup("<|im_start|>", r"<\|im_start\|>(?P<role>\w+)[^\n]*(?:\n|$)", r"<\|im_end\|>"),
    Markup(
        "<|start_header_id|>",
        r"<\|start_header_id\|>(?P<role>\w+)<\|end_header_id\|>\s*",
        r"<\|(?:eot_id|eom_id|end_of_text)\|>",
    ),
    Markup(
        "<|message|>",
        r"<\|start\|>(?P<role>\w+)(?:<\|channel\|>(?P<channel>\w+))?[^<]*<\|message\|>",
        r"<\|(?:end|return|call)\|>",
    ),
    Markup("<start_of_turn>", r"<start_of_turn>(?P<role>\w+)\n?", r"<end_of_turn>"),
    Markup("<|user|>  <|assistant|>", r"<\|(?P<role>system|user|assistant)\|>\n?", r"<\|end\|>|</s>|<\|endoftext\|>"),
    Markup(
        "<|START_OF_TURN_TOKEN|>",
        r"<\|START_OF_TURN_TOKEN\|><\|(?P<role>USER|SYSTEM|CHATBOT)_TOKEN\|>",
        r"<\|END_OF_TURN_TOKEN\|>",
    ),
    Markup("<｜User｜>  <｜Assistant｜>", r"<｜(?P<role>User|Assistant)｜>", r"<｜end▁of▁sentence｜>", lead=True),
    Markup("[INST]  [/INST]", r"(?P<role>\[/?INST\])\s*", r"</s>\s*(?:<s>)?|<<SYS>>.*?<</SYS>>"),
    Markup("Human:  User:", r"(?:^|\n+)(?P<role>Human|User|Assistant): ?", words=True),
    Markup("USER:", r"(?:^|\s+)(?P<role>USER|ASSISTANT): ?", r"</s>", lead=True, words=True),
    Markup(
        "### ",
        r"(?:^|\n+)### (?P<role>Instruction|Input|Human|User|Response|Assistant):\s*",
        r"</s>|<\|endoftext\|>",
        lead=True,
        words=True,
    ),
)


def from_markup(text: str, within: bool = False) -> list[dict[str, Any]] | None:
    r"""The messages of a text that is a chat in some markup; None if it is none.

    A chat begins with the text. ``within`` takes one that begins later, too: what stands before it is the system's, or
    of an answer alone, what it answers.

    >>> from_markup("\n\nHuman: Who?\n\nAssistant: Nobody.")
    [{'role': 'user', 'content': 'Who?'}, {'role': 'assistant', 'content': 'Nobody.'}]
    >>> from_markup("To be, or not to be.") is None
    True
    >>> from_markup("Who? [/INST] Nobody.</s>", within=True)
    [{'role': 'user', 'content': 'Who?'}, {'role': 'assistant', 'content': 'Nobody.'}]
    """
    for markup in MARKUPS:
        signs = markup.signs.split("  ")
        headers = list(re.finditer(markup.header, text)) if any(sign in text for sign in signs) else []
        if not headers:
            continue
        lead = BEGIN.sub("", text[: headers[0].start()]).strip()
        if lead and not ((within or markup.lead) and (len(lead) <= LEAD or not markup.words)):
            continue
        turns = [(_role(h["role"]), h.groupdict().get("channel"), h.end()) for h in headers]
        if markup.words and turns[0][0] == "assistant":
            continue
        messages = [{"role": "user" if turns[0][0] == "assistant" else "system", "content": lead}] if lead else []
        for (role, channel, start), stop in zip(turns, [*(h.start() for h in headers[1:]), len(text)], strict=True):
            content = re.sub(markup.end, "", text[start:stop], flags=re.DOTALL).strip()
            if channel in ("analysis", "commentary"):
                content = f"<think>{content}</think>"
            if messages and messages[-1]["role"] == role:
                messages[-1]["content"] += f"\n\n{content}"
            else:
                messages.append({"role": role, "content": content})
        while messages and messages[-1]["role"] == "assistant" and not messages[-1]["content"]:
            messages.pop()  # where the model is to go on
        return messages or None
    return None


def _role(name: str) -> str:
    name = name.lower()
    return SPOKEN.get(name, ROLES.get(name, name))


def whole_chat(text: str, within: bool = False) -> list[dict[str, Any]] | None:
    r"""The messages of a text that is a chat in some markup, with a turn of the assistant; None for others.

    With ``within``, also an answer with marks of a template behind it, or with reasoning before it.

    >>> whole_chat("Hm.</think>Nobody.<|im_end|>", within=True)
    [{'role': 'assistant', 'content': 'Hm.</think>Nobody.'}]
    >>> whole_chat("Nobody.", within=True) is None
    True
    """
    chat = from_markup(text, within)
    if chat is not None and any(message["role"] == "assistant" for message in chat):
        return chat
    if text[:LEAD].lstrip().startswith("<think"):
        return [{"role": "assistant", "content": text}]
    if not within:
        return None
    answer = STOP.sub("", text) if text.rstrip().endswith(">") else text
    return [{"role": "assistant", "content": answer}] if answer != text or "</think" in answer else None
