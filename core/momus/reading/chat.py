"""Chat messages as text: whose turns count, with reasoning and calls of tools set apart.

Messages are those of the OpenAI and Anthropic interfaces and of the logs that hold them: ``{"role": …, "content": …}``,
where the content is a string or a list of blocks, and ``{"from": …, "value": …}`` (ShareGPT).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from momus.errors import UsageError
from momus.reading.messages import Message, asked, plain_message, text_of
from momus.reading.paths import look_up
from momus.reading.templates import THOUGHT

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


def check_turns(turns: str) -> None:
    """Check that this is one of `TURNS`.

    Raises
    ------
    UsageError
        It is not.
    """
    if turns not in TURNS:
        raise UsageError(f"unknown turns {turns!r} of a chat", hint=f"use one of {', '.join(TURNS)}")


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
    apart += [(CALLS, _json(call)) for call in calls] if isinstance(calls, list) else []
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
        return CALLS, _json(block)
    if kind in ("tool_result", "toolResult", "functionResponse", "function_call_output"):
        return RESULTS, _json(block.get("content", block.get("output")))
    return OTHER, kind


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)


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


def joined(messages: Sequence[Mapping[str, Any]]) -> str:
    r"""All that is said in a chat, as one text.

    >>> joined([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}])
    'Be brief.\n\nWho?'
    """
    return "\n\n".join(turn.text for turn in turns_of(messages) if turn.text)


def kept(turns: Sequence[Turn]) -> dict[str, str]:
    """The fields of `APART` that a chat has, with what they hold, what the user says (``prompt_text``), and its steps.

    >>> kept(turns_of([{"role": "assistant", "content": "", "tool_calls": [{"id": 1}]}]))
    {'tool_calls': '{"id":1}', 'steps': '["tool"]'}
    """
    held = {name: [t for turn in turns for k, t in turn.apart if k == kind] for name, kind in APART.items()}
    held["prompt_text"] = [turn.text for turn in turns if turn.role == "user" and turn.text]
    fields = {name: "\n\n".join(texts) for name, texts in held.items() if texts}
    steps = steps_of(turns)
    return {**fields, STEPS: _json(steps)} if steps else fields


def steps_of(turns: Sequence[Turn]) -> list[str]:
    """What is done in turn in a chat: who speaks, which tools are called, and where their results come.

    >>> call = {"function": {"name": "search", "arguments": "{}"}}
    >>> chat = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "", "tool_calls": [call]}]
    >>> steps_of(turns_of([*chat, {"role": "tool", "content": "Ann."}, {"role": "assistant", "content": "Ann."}]))
    ['user', 'tool:search', 'result', 'assistant']
    """
    steps = []
    for turn in turns:
        # results that a user's message brings stand before what the user says
        steps += ["result" for kind, _ in turn.apart if kind == RESULTS]
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
