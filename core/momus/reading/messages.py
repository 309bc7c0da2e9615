"""Find the messages, the answer and the prompt in what tools and servers write: many shapes, one form.

The form is that of OpenAI's interface, ``{"role": …, "content": …}``. Chat markup within a text (ChatML, Llama, Gemma,
``Human: … Assistant: …``) is taken apart into such messages, too.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from momus.reading.paths import as_string, search

Message = Mapping[str, Any]
Answer = str | list[Any]
"""A text, the messages of a chat, or several of these."""

ROLES = {
    **dict.fromkeys(("gpt", "chatgpt", "model", "ai", "bot", "chatbot", "aimessage", "aimessagechunk"), "assistant"),
    **dict.fromkeys(("human", "prompter", "humanmessage", "inst"), "user"),
    **dict.fromkeys(("developer", "systemmessage"), "system"),
    **dict.fromkeys(("toolmessage", "function", "ipython"), "tool"),
}
"""The roles of OpenAI's interface, by what others call them."""
LANGCHAIN = ("human", "ai", "system", "tool", "function", "AIMessageChunk")
"""Types of messages that stand for their roles."""
ITEMS = {"reasoning": "assistant", "function_call": "assistant", "function_call_output": "tool"}
"""Items of a response that are no messages, and whose they are."""
CONTENTS = ("content", "value", "parts", "text", "tool_calls")
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
    "[output.choices[0].message]",
    "body",
    "message",
    "messages",
    *("generated_text", "completion", "response", "answer", "content", "text", "output", "outputs", "result", "value"),
)
"""Where an answer may be within an object, likeliest first."""
PROMPTS = (
    *("messages", "contents", "body", "input", "inputs", "prompt", "question", "query", "user_input", "instruction"),
    *("text", "content", "value", "message"),
)
"""Where a prompt may be within an object, likeliest first."""
DEEPEST = 8


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
        return _role({"type": _class_of(message), **message["kwargs"]})
    elif isinstance(message.get("message"), Mapping) and "message" in message:
        return _role(message["message"])
    elif "message.role" in message:  # of OpenInference
        role = message["message.role"]
    elif kind in ITEMS:
        role = ITEMS[str(kind)]
    elif kind in LANGCHAIN and "content" in message:
        role = kind
    return ROLES.get(role.lower(), role.lower()) if isinstance(role, str) else ""


def _class_of(message: Message) -> str:
    """The role in the class of a message that LangChain serialised."""
    name = message.get("id")
    return str(name[-1]).lower().removesuffix("message") if isinstance(name, list) and name else ""


def plain_message(message: Message) -> dict[str, Any]:
    """A message with its role and content in the fields of OpenAI's interface, beside its others.

    >>> plain_message({"from": "gpt", "value": "Yes."})["content"]
    'Yes.'
    >>> plain_message({"author": {"role": "user"}, "content": {"parts": ["Who?"]}})["content"]
    ['Who?']
    """
    role = _role(message)
    while "role" not in message and "content" not in message:
        inner = message.get("kwargs") if "lc" in message else message.get("message")
        if not isinstance(inner, Mapping):
            break
        message = inner
    content: object = message.get("message.content")
    if message.get("type") in ITEMS and "role" not in message:
        content = [message]
    if content is None:
        content = next((message[name] for name in CONTENTS[:-1] if message.get(name)), "")
    if isinstance(content, Mapping):
        content = next((content[n] for n in ("parts", "text", "answer", "content", "thoughts") if content.get(n)), "")
    return {**message, "role": role, "content": content}


# Chat markup within a text: how it begins, what stands before a turn (the group is its role), and what ends a turn

BEGIN = r"(?:<s>|<\|begin_of_text\|>|<bos>|<｜begin▁of▁sentence｜>|<\|endoftext\|>|\[gMASK\]<sop>)*\s*"
MARKUPS = {
    "<|im_start|>": (r"<\|im_start\|>", r"<\|im_start\|>(?P<role>\w+)[^\n]*(?:\n|$)", r"<\|im_end\|>"),
    "<|start_header_id|>": (
        r"<\|start_header_id\|>",
        r"<\|start_header_id\|>(?P<role>\w+)<\|end_header_id\|>\s*",
        r"<\|(?:eot_id|eom_id|end_of_text)\|>",
    ),
    "<|start|>": (
        r"<\|start\|>",
        r"<\|start\|>(?P<role>\w+)(?:<\|channel\|>(?P<channel>\w+))?[^<]*<\|message\|>",
        r"<\|(?:end|return|call)\|>",
    ),
    "<start_of_turn>": (r"<start_of_turn>", r"<start_of_turn>(?P<role>\w+)\n?", r"<end_of_turn>"),
    "<|user|>": (
        r"<\|(?:system|user)\|>",
        r"<\|(?P<role>system|user|assistant)\|>\n?",
        r"<\|end\|>|</s>|<\|endoftext\|>",
    ),
    "<|USER_TOKEN|>": (
        r"<\|START_OF_TURN_TOKEN\|>",
        r"<\|START_OF_TURN_TOKEN\|><\|(?P<role>USER|SYSTEM|CHATBOT)_TOKEN\|>",
        r"<\|END_OF_TURN_TOKEN\|>",
    ),
    "<｜User｜>": (r"[^<]*<｜User｜>", r"<｜(?P<role>User|Assistant)｜>", r"<｜end▁of▁sentence｜>"),
    "[INST]": (r"\[INST\]", r"(?P<role>\[/?INST\])\s*", r"</s>\s*(?:<s>)?|<<SYS>>.*?<</SYS>>"),
    "Human:": (r"(?:Human|H): ", r"(?:^|\n+)(?P<role>Human|H|Assistant|A): ?", r"(?!)"),
    "USER:": (r"(?:.{0,400}\s)?USER: ", r"(?:^|\s+)(?P<role>USER|ASSISTANT): ?", r"</s>"),
    "User:": (r"User: ", r"(?:^|\n+)(?P<role>User|Assistant): ?", r"(?!)"),
    "### Instruction:": (
        r"(?:[^#]{0,400}\n)?### (?:Instruction|Human|User)",
        r"(?:^|\n+)### (?P<role>Instruction|Input|Human|User|Response|Assistant):\s*",
        r"</s>|<\|endoftext\|>",
    ),
}
SPOKEN = {"[/inst]": "assistant", "[inst]": "user", "h": "user", "a": "assistant", "response": "assistant"} | {
    "instruction": "user",
    "input": "user",
}
STARTS = {name: re.compile(BEGIN + start, re.DOTALL) for name, (start, _, _) in MARKUPS.items()}
HEADERS = {name: re.compile(header) for name, (_, header, _) in MARKUPS.items()}
ENDS = {name: re.compile(end, re.DOTALL) for name, (_, _, end) in MARKUPS.items()}
TOKENS = re.compile(
    r"<\|im_(?:start|end)\|>|<\|(?:start|end)_header_id\|>|<\|eot_id\|>|<(?:start|end)_of_turn>|\[/INST\]|<｜Assistant｜>"
)
"""Tokens of chat templates, which no text holds by chance."""


def markup_in(text: str) -> str | None:
    r"""The chat markup that a text begins with; None if there is none.

    >>> markup_in("<|im_start|>user\nWho?<|im_end|>"), markup_in("Who?")
    ('<|im_start|>', None)
    """
    return next((name for name, start in STARTS.items() if start.match(text)), None)


def from_markup(text: str) -> list[Message] | None:
    r"""The messages of a text that is a whole chat in some markup; None if it is none.

    >>> from_markup("\n\nHuman: Who?\n\nAssistant: Nobody.")
    [{'role': 'user', 'content': 'Who?'}, {'role': 'assistant', 'content': 'Nobody.'}]
    >>> from_markup("To be, or not to be.") is None
    True
    """
    name = markup_in(text)
    if name is None:
        return None
    headers = list(HEADERS[name].finditer(text))
    if not headers:
        return None
    messages: list[dict[str, Any]] = []
    for header, following in zip(headers, [*headers[1:], None], strict=True):
        content = text[header.end() : following.start() if following is not None else len(text)]
        role = header["role"].lower()
        role = SPOKEN.get(role, ROLES.get(role, role))
        content = ENDS[name].sub("", content).strip()
        if header.groupdict().get("channel") in ("analysis", "commentary"):
            content = f"<think>{content}</think>"
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += f"\n\n{content}"
        else:
            messages.append({"role": role, "content": content})
    while messages and messages[-1]["role"] == "assistant" and not messages[-1]["content"]:
        messages.pop()  # where the model is to go on
    return list(messages) or None


def decoded(text: str) -> object:
    """The list or object that a text is as JSON; None if it is none.

    >>> decoded('{"a": 1}'), decoded("[sic]"), decoded("1")
    ({'a': 1}, None, None)
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
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
        return value if within is None or (isinstance(inner, list) and not is_chat(inner)) else within
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
        chat = from_markup(value) if within is None and ("<" in value or ":" in value or "[INST]" in value) else None
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
    turns = [(_role(m), text_of(plain_message(m)["content"])) for m in messages]
    spoken = [(role, " ".join(text.split())) for role, text in turns if role not in ("system", "tool") and text.strip()]
    if not spoken:
        return None
    if len(spoken) == 1:
        return spoken[0][1]
    content = "\x1e".join(f"{role}\x1f{text}" for role, text in spoken)
    return "conversation " + hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def text_of(content: object) -> str:
    """The text of a content: a string, or a list of blocks, of which those that are no text are left out."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return text_of(next((content[n] for n in ("text", "parts", "value", "message_content") if content.get(n)), ""))
    return "".join(map(text_of, content)) if isinstance(content, list) else ""
