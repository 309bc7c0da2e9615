"""Messages of chats in the form of OpenAI's interface, ``{"role": …, "content": …}``: from many shapes, and templates.

Templates mark the turns of a chat within a text: ChatML, Llama, Gemma, ``Human: … Assistant: …`` and others.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple, TypeGuard

Message = Mapping[str, Any]
CHATS = tomllib.loads(files("momus.reading").joinpath("chats.toml").read_text(encoding="utf-8"))
"""How chats are written: ``chats.toml`` says what its tables hold."""
ROLES: dict[str, str] = {name: role for role, names in CHATS["roles"].items() for name in names}
"""The roles of OpenAI's interface, by what others call them."""
LANGCHAIN = ("human", "ai", "system", "tool", "function", "AIMessageChunk")
"""Types of messages that stand for their roles."""
ITEMS = {"reasoning": "assistant", "function_call": "assistant", "function_call_output": "tool"}
"""Items of a response that are no messages, and whose they are."""
EVENTS = {"agent": "assistant", "user": "user", "system": "system", "environment": "tool"}
"""Sources of the events of an agent, and whose messages they are."""
CONTENTS = ("content", "value", "parts", "text", "message", "tool_calls")
"""Fields that hold what a message says, most likely first."""


def is_message(value: object) -> bool:
    """Whether a value is one message of a chat."""
    return isinstance(value, Mapping) and bool(role_of(value))


def is_chat(value: object) -> TypeGuard[list[Message]]:
    """Whether a value is a list of chat messages.

    >>> is_chat([{"role": "user", "content": "Who?"}]), is_chat([{"text": "Nobody."}]), is_chat([])
    (True, False, False)
    """
    return isinstance(value, list) and bool(value) and all(isinstance(m, Mapping) and role_of(m) for m in value)


def role_of(message: Message) -> str:
    """The role of a message, in the words of OpenAI's interface; empty if it is no message."""
    role = message.get("role", message.get("from", message.get("sender")))
    kind = message.get("type")
    if isinstance(role, str):
        if not any(name in message for name in CONTENTS):
            return ""
    elif isinstance(message.get("author"), Mapping):  # of an export of ChatGPT
        role = message["author"].get("role")
    elif isinstance(message.get("kwargs"), Mapping) and "lc" in message:
        name = message.get("id")  # the class, whose last part is that of a message
        kind = str(name[-1]).lower().removesuffix("message") if isinstance(name, list) and name else ""
        return role_of({"type": kind, **message["kwargs"]})
    elif isinstance(message.get("message"), Mapping) and "message" in message:
        return role_of(message["message"])
    elif "message.role" in message:  # of OpenInference
        role = message["message.role"]
    elif isinstance(kind, str) and kind in ITEMS:
        role = ITEMS[kind]
    elif isinstance(kind, str) and kind in LANGCHAIN and "content" in message:
        role = kind
    elif isinstance(message.get("source"), str):  # of AutoGen, and of the events of OpenHands
        role = _role_of_event(message)
    return ROLES.get(role.lower(), role.lower()) if isinstance(role, str) else ""


def _role_of_event(message: Message) -> str:
    """The role of an event that has a source: of a person, of an agent, of a tool; empty if it is no message."""
    if message.get("type") == "TextMessage":
        return "user" if message["source"] == "user" else "assistant"
    if message["source"] not in EVENTS or not any(name in message for name in ("action", "observation", "step_id")):
        return ""
    if "step_id" in message:
        return EVENTS[message["source"]]
    action = message.get("action")
    return EVENTS[message["source"]] if action == "message" else "system" if action == "system" else "tool"


def plain_message(message: Message) -> dict[str, Any]:
    """A message with its role and content in the fields of OpenAI's interface, beside its others.

    >>> plain_message({"from": "gpt", "value": "Yes."})["content"]
    'Yes.'
    >>> plain_message({"author": {"role": "user"}, "content": {"parts": ["Who?"]}})["content"]
    ['Who?']
    """
    role = role_of(message)
    while "role" not in message and "content" not in message:
        inner = message.get("kwargs" if "lc" in message else "args" if "action" in message else "message")
        if not isinstance(inner, Mapping):
            break
        message = inner
    content: object = message.get("message.content")
    if str(message.get("type")) in ITEMS and "role" not in message:
        content = [message]
    if content is None:
        content = next((message[name] for name in CONTENTS[:-1] if message.get(name)), "")
    if isinstance(content, Mapping):
        content = next((content[n] for n in ("parts", "text", "answer", "content", "thoughts") if content.get(n)), "")
    return {**message, "role": role, "content": content}


def asked(messages: Sequence[Message]) -> str | None:
    """The name of what the messages ask: of one turn its text, of several a digest; without those of the system."""
    turns = [(role_of(m), said(m)) for m in messages]
    spoken = [(role, " ".join(text.split())) for role, text in turns if role not in ("system", "tool") and text.strip()]
    if not spoken:
        return None
    if len(spoken) == 1:
        return spoken[0][1]
    content = "\x1e".join(f"{role}\x1f{text}" for role, text in spoken)
    return "conversation " + hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def said(message: Message) -> str:
    """The text of a message."""
    return text_of(plain_message(message)["content"])


def text_of(content: object) -> str:
    """The text of a content: a string, or a list of blocks, of which those that are no text are left out."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        names = ("text", "parts", "value", "message_content", "content")
        return text_of(next((content[name] for name in names if content.get(name)), ""))
    return "".join(map(text_of, content)) if isinstance(content, list) else ""


SPOKEN: dict[str, str] = {name: role for role, names in CHATS["marks"].items() for name in names}
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
    """How a template marks turns, see ``chats.toml``."""

    signs: Sequence[str]
    header: str
    end: str = r"(?!)"
    lead: bool = False
    words: bool = False


MARKUPS = [Markup(**template) for template in CHATS["templates"]]
RARE = re.compile(
    "[" + re.escape("".join(sorted({re.sub(r"[\w\s/]", "", s)[0] for m in MARKUPS for s in m.signs}))) + "]"
)
"""A character that each of the signs has: most texts, which have none, are looked at once."""


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
    if RARE.search(text) is None:
        return None
    for markup in MARKUPS:
        headers = list(re.finditer(markup.header, text)) if any(sign in text for sign in markup.signs) else []
        if not headers:
            continue
        lead = BEGIN.sub("", text[: headers[0].start()]).strip()
        if lead and not ((within or markup.lead) and (len(lead) <= LEAD or not markup.words)):
            continue
        turns = [(_speaker(h["role"]), h.groupdict().get("channel"), h.end()) for h in headers]
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


def _speaker(name: str) -> str:
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
