"""Answers and prompts in what tools and servers write, and the turns of chats: whose count, and what is set apart.

Messages are those of the OpenAI and Anthropic interfaces and of the logs that hold them: ``{"role": …, "content": …}``,
where the content is a string or a list of blocks, and ``{"from": …, "value": …}`` (ShareGPT).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from momus.reading.messages import (
    CHATS,
    THOUGHT,
    Message,
    asked,
    from_markup,
    is_chat,
    is_message,
    plain_message,
    role_of,
    text_of,
    whole_chat,
)
from momus.reading.paths import as_string, decoded, look_up, search

Answer = str | list[Any]
"""A text, the messages of a chat, or several of these."""

BLOCKS = ("text", "type", "message_content", "toolUse", "functionCall", "reasoningContent")
REPLIES: list[str] = CHATS["answers"]["replies"]
"""Where the answer is in what a server replies."""
ANSWERS = [*REPLIES, *CHATS["answers"]["others"]]
"""Where an answer may be within an object, likeliest first."""
PROMPTS: list[str] = CHATS["prompts"]["paths"]
"""Where a prompt may be within an object, likeliest first."""
DEEPEST = 8


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
        return any(role_of(message) == "assistant" for message in messages)
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


TURNS = ("assistant", "last", "all", "reasoning", "tools")
"""What counts as the text of a chat: the assistant's turns, the last of them, all turns, or what is set apart."""
REASONING, CALLS, RESULTS, OTHER = "reasoning", "tool calls", "tool results", "content that is not text"
APARTS = {"tool": RESULTS, "function": RESULTS, "function_call": CALLS}
"""Roles whose messages are no text, and what they hold."""
STEPS = "steps"
"""Field of what is done in turn in a chat."""
NAMES_OF_TOOLS = ("function.name", "name", "toolUse.name", "functionCall.name", "function")
"""Where the call of a tool names it."""
LONGEST_NAME = 100
"""Characters of the name of a tool that are kept."""
APART = {"reasoning": REASONING, "tool_calls": CALLS}
"""Fields that a chat's document can keep, and what they hold."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: who speaks, the text, and what is set apart from it, by kind."""

    role: str
    text: str
    apart: Sequence[tuple[str, str]] = ()


def turns_of(messages: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """The turns of a chat; the content of tools' messages is set apart.

    >>> turns_of([{"role": "assistant", "content": "<think>Hm.</think>Nobody."}])
    [Turn(role='assistant', text='Nobody.', apart=[('reasoning', 'Hm.')])]
    """
    return [_turn(message) for message in messages]


def _turn(message: Mapping[str, Any]) -> Turn:
    message = plain_message(message)
    role = message["role"]
    pieces = list(_pieces(message["content"]))
    texts = [text for kind, text in pieces if not kind]
    apart = [(kind, text) for kind, text in pieces if kind]
    for name in ("reasoning_content", "reasoning", "thinking"):
        if isinstance(message.get(name), str) and message[name]:
            apart.append((REASONING, message[name]))
            break
    calls = message.get("tool_calls")
    apart += [(CALLS, as_string(call)) for call in calls] if isinstance(calls, list) else []
    text = "".join(texts)
    if role in APARTS:
        return Turn("assistant" if role == "function_call" else role, "", [(APARTS[role], text), *apart])
    if role == "assistant" and "</think" in text and (thought := THOUGHT.match(text)):
        apart.insert(0, (REASONING, thought[1].strip()))
        text = text[thought.end() :]
    return Turn(role, text, apart)


def _pieces(content: object) -> Iterator[tuple[str, str]]:
    """The kind (empty for text) and the text of each block of a content."""
    if isinstance(content, str):
        yield "", content
    for block in content if isinstance(content, list) else ():
        if isinstance(block, str):
            yield "", block
            continue
        yield _piece(block) if isinstance(block, Mapping) else (OTHER, "")


def _piece(block: Mapping[str, Any]) -> tuple[str, str]:
    """The kind and the text of a block, whose kind is its type, or the name of its only field."""
    block = block["message_content"] if isinstance(block.get("message_content"), Mapping) else block
    kind = str(block.get("type") or ("text" if "text" in block else next(iter(block), "")))
    inner = block.get("reasoningContent")
    block = inner["reasoningText"] if isinstance(inner, Mapping) and "reasoningText" in inner else block
    names = ("text", "reasoning", "thinking", "summary", "message_content.text", "content")
    text = text_of(next((block[name] for name in names if block.get(name)), ""))
    if "reason" in kind or "thinking" in kind or block.get("thought") is True:
        return REASONING, text
    if kind in ("text", "output_text", "input_text"):
        return "", text
    if kind in ("tool_use", "tool_call", "function_call", "toolUse", "functionCall"):
        return CALLS, as_string(block)
    if kind in ("tool_result", "toolResult", "functionResponse", "function_call_output"):
        return RESULTS, as_string(block.get("content", block.get("output")))
    return OTHER, kind


def chosen(turns: Sequence[Turn], which: str) -> tuple[list[str], list[str | None], bool]:
    """Texts, titles, and whether they are sections.

    All turns are sections titled by their role; of others, the turns are one text, separated by blank lines.

    >>> chat = turns_of([{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Nobody."}])
    >>> chosen(chat, "all")
    (['Who?', 'Nobody.'], ['user', 'assistant'], True)
    >>> chosen(chat, "assistant")
    (['Nobody.'], [None], False)
    """
    if which == "all":
        filled = [turn for turn in turns if turn.text]
        return [turn.text for turn in filled], [turn.role for turn in filled], True
    if which in ("reasoning", "tools"):
        kind = REASONING if which == "reasoning" else CALLS
        texts = [text for turn in turns for k, text in turn.apart if k == kind]
    else:
        spoken = [turn for turn in turns if turn.role == "assistant"]
        # an answer without text is an empty document, as in any other format
        texts = [turn.text for turn in spoken if turn.text] or [""] * bool(spoken)
        texts = texts[-1:] if which == "last" else texts
    return ["\n\n".join(texts)] if texts else [], [None] if texts else [], False


def prompt_of(messages: Sequence[Message], which: str) -> str | None:
    """The name of the prompt of a chat: what was said up to the last answer, or of all answers, what the user said.

    >>> prompt_of([{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Nobody."}], "assistant")
    'Who?'
    """
    roles = [plain_message(message)["role"] for message in messages]
    if which == "last" and "assistant" in roles:
        return asked(messages[: len(roles) - 1 - roles[::-1].index("assistant")])
    return asked([message for message, role in zip(messages, roles, strict=True) if role == "user"])


def kept(turns: Sequence[Turn], messages: object = None) -> dict[str, str]:
    """The fields of `APART` that a chat has, with what they hold, what the user says (``prompt_text``), and its steps.

    Parameters
    ----------
    messages
        All messages of the record, where the chat is only an answer: its steps are those of both.

    >>> kept(turns_of([{"role": "assistant", "content": "", "tool_calls": [{"id": 1}]}]))
    {'tool_calls': '{"id":1}', 'steps': '["tool"]'}
    """
    held = {name: [t for turn in turns for k, t in turn.apart if k == kind] for name, kind in APART.items()}
    held["prompt_text"] = [turn.text for turn in turns if turn.role == "user" and turn.text]
    fields = {name: "\n\n".join(texts) for name, texts in held.items() if texts}
    before = turns_of(messages) if is_chat(messages) else []
    steps = steps_of([*before, *(turn for turn in turns if turn not in before)])
    return {**fields, STEPS: as_string(steps)} if steps else fields


def steps_of(turns: Sequence[Turn]) -> list[str]:
    """What is done in turn in a chat: who speaks, and which tools are called.

    >>> call = {"function": {"name": "search", "arguments": "{}"}}
    >>> chat = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "", "tool_calls": [call]}]
    >>> steps_of(turns_of([*chat, {"role": "tool", "content": "Ann."}, {"role": "assistant", "content": "Ann."}]))
    ['user', 'tool:search', 'assistant']
    """
    steps = []
    for turn in turns:  # results say nothing that calls do not, and would stand between two calls of one tool
        steps += [turn.role] if turn.text else []
        steps += [_call(text) for kind, text in turn.apart if kind == CALLS]
    return steps


def _call(text: str) -> str:
    """The step of a call, which is JSON: with the name of the tool, where it has one."""
    try:
        call = json.loads(text)
    except (ValueError, RecursionError):
        return "tool"
    names = (look_up(call, path) for path in NAMES_OF_TOOLS) if isinstance(call, Mapping) else ()
    name = next((name for name in names if isinstance(name, str) and name), "")
    return f"tool:{name[:LONGEST_NAME]}" if name else "tool"
