"""Secrets in the forms in which tools, shells and configurations write them, and settings that only look like some."""

import json

import pytest

from momus.redact import HIDDEN, redacted, redacted_value

S = "hunter2secret"
"""What must not be seen where a name says that it is secret."""
R = "Zk93hQx7Lw2PvT0yJd84mRbN1sUa"
"""A key without a known beginning: random letters and digits."""

SETTINGS = [
    {"api_key": S},
    {"apiKey": S},
    {"API-KEY": S},
    {"openai_api_key": S},
    {"OPENAI_API_KEY": S},
    {"password": S},
    {"db_password": S},
    {"passwd": S},
    {"PASSWORD2": S},
    {"client_secret": S},
    {"secret": S},
    {"aws_secret_access_key": S},
    {"aws_access_key_id": S},
    {"access_token": S},
    {"hf_token": S},
    {"token": S},
    {"use_auth_token": S},
    {"sessionToken": S},
    {"Authorization": f"Bearer {S}"},
    {"headers": {"Authorization": f"Basic {S}"}},
    {"headers": {"X-Api-Key": S}},
    {"headers": [["x-api-key", S]]},
    {"headers": [("Authorization", f"Token {S}")]},
    {"headers": [f"x-api-key: {S}"]},
    {"headers": [{"name": "x-api-key", "value": S}]},
    {"env": [{"name": "HF_TOKEN", "value": S}]},
    {"env": [f"OPENAI_API_KEY={S}"]},
    {"client": {"env": [f"OPENAI_API_KEY={S}"]}},
    {"env": {"OPENAI_API_KEY": S}},
    {"credentials": {"user": "ann", "value": S}},
    {"cookies": {"session": S}},
    {"auth": ["ann", S]},
    {"key": S},
    {"wandb_key": S},
    {"private_key": S},
    {"extra": f"--header 'x-api-key: {S}'"},
    {"extra": f'-H "Authorization: Bearer {S}"'},
    {"extra": f"--api-key {S} --n 3"},
    {"extra": f"--api-key={S} --n 3"},
    {"extra": f"--token '{S}'"},
    {"extra": f"export HF_TOKEN={S}; run"},
    {"extra": f"pretrained=m,api_key={S}"},
    {"extra": f"Server=h;User=ann;Password={S};"},
    {"extra": f"host=h dbname=d password={S}"},
    {"argv": ["run", "--api-key", S, "-n", "3"]},
    {"argv": ["run", f"--password={S}"]},
    {"argv": ["curl", "-u", f"me:{S}", "https://host"]},
    {"argv": ["curl", f"-ume:{S}"]},
    {"extra": f"curl -u me:{S} https://host"},
    {"extra": f"curl --user='me:{S}' https://host"},
    {"extra": f"curl --proxy-user me:{S}"},
    {"extra": f"curl -sSu me:{S} https://host"},
    {"argv": ["curl", "-su", f"me:{S}"]},
    {"extra": f"http --auth me:{S} host"},
    {"extra": f"PGPASSWORD={S} psql"},
    {"keys": [S]},
    {"key_list": [S]},
    {"keys": {"openai": S}},
    {"client": {"keys": [{"value": S}]}},
    {"api_keys": ["plain", S]},
    {"extra": json.dumps({"api_key": S, "n": 3})},
    {"extra": f'{{"api_key": "{S}",}}'},
    {"extra": f"api_key: {S}"},
    {"url": f"https://ann:{S}@host/v1"},
    {"url": f"postgres://ann:{S}@host:5432/db"},
    {"url": f"https://host/v1?api_key={S}&n=2"},
    {"url": f"https://host/b?sig={S}&se=2026"},
    {"url": f"s3://b/x?X-Amz-Signature={S}"},
    {"url": f"https://host/?access_token={S}"},
    {"note": f"sk-{S}"},
    {"note": f"use hf_{S} here"},
    {"note": f"ghp_{S}00"},
    {"note": "AKIAHUNTER2SECRET00"},
    {"note": f"xoxb-1234-{S}"},
    {"note": f"eyJ{S}.eyJ{S}.{S}"},
    {"note": f"-----BEGIN RSA PRIVATE KEY-----\n{S}\n-----END RSA PRIVATE KEY-----"},
    {"model": R},
    {"deep": [{"list": [[f"x {R}"]]}]},
]

HARMLESS = [
    {"max_tokens": 256},
    {"n_tokens": "many"},
    {"tokens": "words"},
    {"tokenizer": "words"},
    {"token_count": 12},
    {"eos_token": "<|endoftext|>"},
    {"pad_token": "[PAD]"},
    {"eos_token_id": 50256},
    {"stop_token": "###"},
    {"token_type": "bpe"},
    {"key": "OPENAI_API_KEY"},
    {"key": "text"},
    {"keys": ["id", "title"]},
    {"keys": {"text": "completion", "id": "sample_id"}},
    {"extra": "wget -nu http://host/v1"},
    {"stop_tokens": ["<|endoftext|>1"]},
    {"argv": ["python", "-u", "run.py", "a:b"]},
    {"sort_key": "documents"},
    {"primary_key": "id"},
    {"api_key_env": "OPENAI_API_KEY"},
    {"token_file": "/run/secrets/token"},
    {"password_field": "pw"},
    {"keyness": 3.5},
    {"author": "Ann Key"},
    {"authors": ["Ann", "Bob"]},
    {"monkey": "abc1234567"},
    {"pass@1": 0.5},
    {"passes": 3},
    {"signature": "length|seed:1"},
    {"session": 3},
    {"model": "meta-llama/Llama-3.1-8B-Instruct"},
    {"model": "Qwen2.5-Coder-32B-Instruct-GPTQ-Int4"},
    {"model": "gpt-4o-mini-2024-07-18"},
    {"revision": "0e9e39f249a16976918f6564b8830bc894c89659"},
    {"fingerprint": "d41d8cd98f00b204e9800998ecf8427e"},
    {"url": "https://host:8000/v1/chat/completions?n=2&top_k=40"},
    {"path": "/data/Project2026/Runs/A1B2/Model_Checkpoint-00012/file.parquet"},
    {"dtype": "bfloat16", "device": "cuda:0"},
    {"extra": "--max-tokens 256 --key-field text"},
    {"extra": "pretrained=m,dtype=float,max_tokens=12"},
    {"header": "Content-Type: application/json"},
    {"time": "2026-11-22T16:01:07+00:00"},
    {"text": "The key: a word. The secret of the token is: nothing."},
    {"chat_template": "{{ bos_token }}{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}{% endfor %}"},
    {"skip_special_tokens": True},
    {"keys": ["title", "text"]},
    {"secret": "", "password": None},
]


@pytest.mark.parametrize("setting", SETTINGS, ids=range(len(SETTINGS)))
def test_no_secret_stays(setting):
    shown = json.dumps(redacted_value(setting))
    assert HIDDEN in shown
    assert not any(piece.lower() in shown.lower() for piece in (S, "HUNTER2SECRET", R))
    assert redacted_value(redacted_value(setting)) == redacted_value(setting)


@pytest.mark.parametrize("setting", HARMLESS, ids=range(len(HARMLESS)))
def test_harmless_settings_stay(setting):
    assert redacted_value(setting) == setting


def test_what_is_beside_a_secret_stays():
    shown = redacted_value(
        {"client": {"env": [f"OPENAI_API_KEY={S}", "N=3"]}, "extra": f"--header 'x-api-key: {S}' -n 3"}
    )
    assert shown == {"client": {"env": ["OPENAI_API_KEY=***", "N=3"]}, "extra": "--header 'x-api-key: ***' -n 3"}


@pytest.mark.parametrize(
    "message",
    [
        "length: token is 3, expected a text",
        "a.jsonl, line 3: no field 'password'",
        "password: expected a text, found a number",
        "the token: missing",
        "momus compare --real a.jsonl --generated g=b.jsonl --seed 3 --critics keyness",
        "generator.openai: key names an environment variable that is not set: OPENAI_API_KEY",
    ],
)
def test_messages_keep_their_words(message):
    assert redacted(message) == message
