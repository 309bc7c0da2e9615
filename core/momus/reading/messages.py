"""Find the messages, the answer and the prompt in what tools and servers write: many shapes, one form.

The form is that of OpenAI's interface, ``{"role": …, "content": …}``.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeGuard

from momus.reading.paths import as_string, search
from momus.reading.templates import ROLES, from_markup, whole_chat

Message = Mapping[str, Any]
Answer = str | list[Any]
"""A text, the messages of a chat, or several of these."""

LANGCHAIN = ("human", "ai", "system", "tool", "function", "AIMessageChunk")
"""Types of messages that stand for their roles."""
ITEMS = {"reasoning": "assistant", "function_call": "assistant", "function_call_output": "tool"}
"""Items of a response that are no messages, and whose they are."""
EVENTS = {"agent": "assistant", "user": "user", "system": "system", "environment": "tool"}
"""Sources of the events of an agent, and whose messages they are."""
CONTENTS = ("content", "value", "parts", "text", "message", "tool_calls")
"""Fields that hold what a message says, most likely first."""
BLOCKS = ("text", "type", "message_content", "toolUse", "functionCall", "reasoningContent")
ANSWERS = (
    "choices[*].[message || delta]",
    "choices[*].text",
    "output[?type=='message' || type=='reasoning' || type=='function_call']",
    "candidates[*].[content]",
    "generations[*][0].[message || @]",
    "generations[*].[message || @]",
    "output.message",
    "output.choices[*].[message]",
    "results[*].outputText",
    "predictions[*].content",
    *("body", "message", "messages", "generated_text", "generation", "completion"),
    *("response", "answer", "content", "text", "output", "outputs", "result", "value"),
)
"""Where an answer may be within an object, likeliest first."""
REPLIES = ANSWERS[:10]
"""Those that only a reply of a server has."""
PROMPTS = (
    *("messages", "contents", "body", "input", "inputs", "prompt", "question", "query", "user_input", "instruction"),
    *("inputText", "text", "content", "value", "message"),
)
"""Where a prompt may be within an object, likeliest first."""
DEEPEST = 8
LONGEST = 1 << 20
"""Characters of a value in Python's words; longer ones are no cells of a table."""


def is_message(value: object) -> bool:
    """Whether a value is one message of a chat."""
    return isinstance(value, Mapping) and bool(_role(value))


def is_chat(value: object) -> TypeGuard[list[Message]]:
    """Whether a value is a list of chat messages.

    >>> is_chat([{"role": "user", "content": "Who?"}]), is_chat([{"text": "Nobody."}]), is_chat([])
    (True, False, False)
    """
    return isinstance(value, list) and bool(value) and all(isinstance(m, Mapping) and _role(m) for m in value)


def _role(message: Message) -> str:
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
        return _role({"type": kind, **message["kwargs"]})
    elif isinstance(message.get("message"), Mapping) and "message" in message:
        return _role(message["message"])
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
    role = _role(message)
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


def decoded(text: str) -> object:
    """The list or object that a text is as JSON, or as Python writes it; None if it is none.

    >>> decoded('{"a": 1}'), decoded("[sic]"), decoded("1"), decoded("[{'a': None}]")
    ({'a': 1}, None, None, [{'a': None}])
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        if len(text) > LONGEST or not text.lstrip("[{ \n").startswith(("'", '"')):
            return None
        try:
            value = ast.literal_eval(text.strip())  # constants alone: no name, call or operator is evaluated
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    return value if isinstance(value, dict | list) else None


def answer_in(value: object, depth: int = 0) -> Answer | None:
    """The answer within a value: a text, the messages of a chat, or several of these; None if there is none.

    >>> answer_in({"choices": [{"message": {"role": "assistant", "content": "Yes."}}]})
    [{'role': 'assistant', 'content': 'Yes.'}]
    >>> answer_in({"output": "Yes."}), answer_in('{"answer": "Yes."}'), answer_in({"score": 1})
    ('Yes.', 'Yes.', None)
    """
    if depth > DEEPEST or value is None:
        return None
    if isinstance(value, str):
        inner = decoded(value)
        within = answer_in(inner, depth + 1) if inner is not None else None
        if within is None or (isinstance(inner, list) and not is_chat(inner)):
            # a list of one text, as tables hold it, is no answer that begins with a bracket
            return inner[0] if isinstance(inner, list) and len(inner) == 1 and isinstance(inner[0], str) else value
        return within
    if isinstance(value, list):
        return _answers_in(value, depth)
    if not isinstance(value, Mapping):
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    if (path := _walked(value)) is not None:
        return path
    if is_message(value):
        return [dict(value)]
    answers = (answer_in(search(path, value), depth + 1) for path in ANSWERS)
    return next((answer for answer in answers if answer is not None), None)


def unquoted(value: object) -> object:
    r"""What a string of JSON means, with its quotation marks and escapes; other values as they are.

    >>> unquoted(r'"Who?\nI."'), unquoted('"Who?" I.')
    ('Who?\nI.', '"Who?" I.')
    """
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        with suppress(ValueError):
            return json.loads(value)
    return value


def _answers_in(values: list[Any], depth: int) -> Answer | None:
    if is_chat(values):
        return values
    if not values or all(isinstance(v, str) for v in values):
        return values
    if all(isinstance(v, Mapping) and any(name in v for name in BLOCKS) for v in values):
        return [{"role": "assistant", "content": values}]
    answers = [answer_in(v, depth + 1) for v in values]
    if any(answer is None for answer in answers):
        return None
    return answers[0] if len(answers) == 1 else answers


def _walked(value: Mapping[str, Any]) -> list[Message] | None:
    """The messages of a chat that is kept as a tree, along its current branch; None for other objects."""
    nodes, name = value.get("mapping"), value.get("current_node")
    if not isinstance(nodes, Mapping) or not isinstance(name, str):
        return None
    branch: list[Message] = []
    seen: set[str] = set()
    while isinstance(name, str) and name not in seen and isinstance(node := nodes.get(name), Mapping):
        seen.add(name)
        if is_message(node.get("message")):
            branch.append(node["message"])
        name = node.get("parent")
    return branch[::-1]


def spoken(answer: Answer | None, within: bool = False) -> Answer | None:
    r"""An answer with the chat markup in it taken apart, and what it thinks set apart, see `whole_chat`.

    >>> spoken("<|im_start|>user\nWho?<|im_end|>\n<|im_start|>assistant\nNobody.<|im_end|>")
    [{'role': 'user', 'content': 'Who?'}, {'role': 'assistant', 'content': 'Nobody.'}]
    >>> spoken("Nobody."), spoken("<think>Hm.</think>Nobody.")
    ('Nobody.', [{'role': 'assistant', 'content': '<think>Hm.</think>Nobody.'}])
    """
    if isinstance(answer, list) and not is_chat(answer):
        return [spoken(item, within) for item in answer]
    return whole_chat(answer, within) or answer if isinstance(answer, str) else answer


def is_packed(value: object) -> bool:
    """Whether a value is no text but a chat in a template, or what a server replied, also as JSON.

    >>> is_packed('{"choices": [{"text": "Yes."}]}'), is_packed("Yes.</s>"), is_packed("Yes."), is_packed("</s>")
    (True, True, False, False)
    """
    inner = decoded(value) if isinstance(value, str) else value
    if isinstance(inner, Mapping) or is_chat(inner):
        return answer_in(inner) is not None
    chat = whole_chat(value, within=True) if isinstance(value, str) else None
    return chat is not None and any(message["content"] for message in chat)


def holds_answer(value: object) -> bool:
    """Whether a value can only be a chat with an answer in it, or a reply of a server, also as JSON.

    >>> holds_answer([{"role": "assistant", "content": "Yes."}]), holds_answer([{"role": "user", "content": "Who?"}])
    (True, False)
    """
    inner = decoded(value) if isinstance(value, str) else value
    messages = [inner] if is_message(inner) else inner
    if is_chat(messages):
        return any(_role(message) == "assistant" for message in messages)
    return isinstance(inner, Mapping) and any(answer_in(search(path, inner)) for path in REPLIES)


def prompt_in(value: object, depth: int = 0) -> str | None:
    """The name of a prompt: its text, or of a conversation with several turns a digest; None if there is none.

    >>> prompt_in([{"role": "system", "content": "Be brief."}, {"role": "user", "content": " Who? "}])
    'Who?'
    >>> prompt_in({"messages": [{"role": "user", "content": "Who?"}]}), prompt_in("Who?"), prompt_in(7)
    ('Who?', 'Who?', '7')
    """
    if value is None or depth > DEEPEST:
        return None
    if isinstance(value, str):
        inner = decoded(value)
        within = prompt_in(inner, depth + 1) if inner is not None else None
        chat = from_markup(value) if within is None else None
        if chat is not None:
            within = asked(chat)
        return " ".join(value.split()) if within is None else within
    if is_chat(value):
        return asked(value)
    if isinstance(value, list):
        if value and all(isinstance(v, Mapping) and any(n in v for n in BLOCKS) for v in value):
            return asked([{"role": "user", "content": value}])
        alone = len(value) == 1 and isinstance(value[0], list | str)
        return prompt_in(value[0], depth + 1) if alone else as_string(value)
    if not isinstance(value, Mapping):
        return as_string(value)
    if is_message(value):
        return asked([value])
    prompts = (prompt_in(search(path, value), depth + 1) for path in PROMPTS)
    return next((prompt for prompt in prompts if prompt), as_string(value))


def asked(messages: Sequence[Message]) -> str | None:
    """The name of what the messages ask: of one turn its text, of several a digest; without those of the system."""
    turns = [(_role(m), said(m)) for m in messages]
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
