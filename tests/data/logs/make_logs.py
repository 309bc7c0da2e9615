"""Make the logs of this folder, with the harnesses themselves and a tiny model that is trained on the spot.

Questions and references are docstrings of Momus (Apache-2.0, like the rest of the repository); answers are what a GPT-2
of 0.2 million weights wrote after a minute of training on them. Run it where the harnesses are installed:

    pip install torch==2.13.0 'lm-eval[hf]==0.4.13' inspect-ai==0.3.285 lighteval==0.13.0 trl
    python tests/data/logs/make_logs.py tests/data/logs

lighteval 0.13 imports all its tasks, some of which load files from the net: without one, empty its folder
``lighteval/tasks/tasks`` first, and install xxhash<4.
The instances of Every Eval Ever were converted from the samples ``explain`` of lm-eval by its own command, under Python
3.12; the model was first called ``momus/tiny-gpt2`` in a copy of the results, since it must have a developer:

    python -m every_eval_ever.converters.lm_eval --log_path copy --output_dir out --include_samples
        --source_organization_name Momus --eval_library_name lm_eval --eval_library_version 0.4.13
"""

from __future__ import annotations

import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

N = 24
CORE = Path(__file__).resolve().parents[3] / "core" / "momus"


def questions() -> list[dict[str, str]]:
    """Public functions and classes of Momus: what they do, in the first paragraphs of their docstrings."""
    rows = []
    for path in sorted(CORE.rglob("*.py")):
        module = ".".join(("momus", *path.relative_to(CORE).with_suffix("").parts)).removesuffix(".__init__")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                text = (ast.get_docstring(node) or "").partition(">>>")[0].split("\n\n")
                answer = " ".join(" ".join(text[:3]).split())
                if 120 <= len(answer) <= 400 and "---" not in answer:
                    rows.append({"name": f"{module}.{node.name}", "answer": answer})
    random.Random(7).shuffle(rows)
    return [
        {"id": f"q{i:03}", "question": f"What does {r['name']} do?", "answer": r["answer"]} for i, r in enumerate(rows)
    ]


def model(folder: Path, rows: list[dict[str, str]]) -> None:
    """Train a tiny GPT-2 and its tokenizer on the questions and answers."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    texts = [f"Question: {r['question']}\nAnswer: {r['answer']}<end>" for r in rows]
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer, raw.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1200, special_tokens=["<end>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    raw.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, bos_token="<end>", eos_token="<end>", pad_token="<end>", model_max_length=256
    )
    tokenizer.chat_template = (
        "{% for m in messages %}{{ 'Question: ' if m['role'] == 'user' else 'Answer: ' }}{{ m['content'] }}\n"
        "{% endfor %}"
        "{% if add_generation_prompt %}Answer:{% endif %}"
    )
    tokenizer.save_pretrained(folder)
    net = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer), n_positions=256, n_embd=64, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
        )
    )
    ids = [i for text in texts for i in tokenizer(text)["input_ids"]]
    data = torch.tensor(ids[: len(ids) // 128 * 128]).view(-1, 128)
    steps = torch.optim.AdamW(net.parameters(), lr=3e-3)
    for step in range(150):
        batch = data[torch.randint(len(data), (16,))]
        loss = net(batch, labels=batch).loss
        steps.zero_grad()
        loss.backward()
        steps.step()
        if step % 50 == 0:
            print("step", step, "loss", round(loss.item(), 2), flush=True)
    net.save_pretrained(folder)


def lm_eval(out: Path, weights: Path) -> None:
    """lm-evaluation-harness: a task that generates, sampled twice, with two filters; one that chooses."""
    tasks = Path("tasks")
    tasks.mkdir(exist_ok=True)
    common = "dataset_path: json\ndataset_kwargs:\n  data_files: {test: questions.jsonl}\ntest_split: test\n"
    (tasks / "explain.yaml").write_text(
        "task: explain\n"
        + common
        + """output_type: generate_until
doc_to_text: "Question: {{question}}\\nAnswer:"
doc_to_target: "{{answer}}"
repeats: 2
generation_kwargs: {do_sample: true, temperature: 0.8, max_gen_toks: 60, until: ["\\nQuestion:", "<end>"]}
filter_list:
  - name: whole
    filter: [{function: take_first}]
  - name: first-sentence
    filter: [{function: regex, regex_pattern: "([^.]+\\\\.)"}, {function: take_first}]
metric_list: [{metric: exact_match}]
"""
    )
    (tasks / "choose.yaml").write_text(
        "task: choose\n"
        + common
        + """output_type: multiple_choice
doc_to_text: "{{question}}"
doc_to_choice: ["It reads.", "It writes."]
doc_to_target: 0
metric_list: [{metric: acc}]
"""
    )
    for task in ("explain", "choose"):
        arguments = {"--model_args": f"pretrained={weights},max_length=256", "--include_path": "tasks"}
        arguments |= {"--tasks": task, "--output_path": "lm", "--device": "cpu", "--batch_size": "24"}
        run("lm_eval", "run", "--model", "hf", "--log_samples", *(a for pair in arguments.items() for a in pair))
    for path in Path("lm").rglob("*.json*"):
        shutil.copy(path, out / path.name)
    for path in out.glob("results_*.json"):  # what the machine is says nothing about the texts
        results = json.loads(path.read_text())
        path.write_text(json.dumps({k: v for k, v in results.items() if k != "pretty_env_info"}, indent=1))


def inspect(out: Path, weights: Path, rows: list[dict[str, str]]) -> None:
    """Inspect: two epochs of a local model as .eval; a mock model that reasons and calls a tool, as .json."""
    import tiktoken
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageAssistant, ContentReasoning, ContentText, ModelOutput, get_model
    from inspect_ai.model._model_output import ChatCompletionChoice
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import Tool, tool

    @tool
    def manual() -> Tool:
        async def execute(name: str) -> str:
            """Look up a name.

            Args:
                name: The name.
            """
            return f"{name} is in the manual."

        return execute

    # Inspect counts tokens with a vocabulary that it loads from the net: a byte counts as a token here
    tiktoken.get_encoding = lambda name: tiktoken.Encoding(
        name, pat_str=r"(?s:.)", mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={}
    )
    samples = [
        Sample(id=str(i), input=r["question"], target=r["answer"], metadata={"prompt": asked(r)})
        for i, r in enumerate(rows)
    ]
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=includes(), name="explain", epochs=2)
    local = get_model("hf/local", model_path=str(weights), tokenizer_path=str(weights), device="cpu")
    eval(task, model=local, log_dir=str(out), log_format="eval", temperature=0.8, max_tokens=60, display="none", seed=1)

    def outputs(row: dict[str, str]) -> Iterator[ModelOutput]:
        yield ModelOutput.for_tool_call("mockllm/model", "manual", {"name": row["question"].split()[2]})
        content = [ContentReasoning(reasoning="The manual says so."), ContentText(text=row["answer"].lower())]
        yield ModelOutput(choices=[ChatCompletionChoice(message=ChatMessageAssistant(content=content))])

    mock = get_model("mockllm/model", custom_outputs=[o for row in rows[:3] for o in outputs(row)])
    task = Task(
        dataset=MemoryDataset(samples[:3]), solver=[use_tools(manual()), generate()], scorer=includes(), name="consult"
    )
    eval(task, model=mock, log_dir=str(out), log_format="json", display="none", max_connections=1, max_samples=1)


LIGHTEVAL_TASK = """
from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc


def prompt(line, task_name):
    return Doc(task_name=task_name, query=f"Question: {line['question']}\\nAnswer:", choices=[line["answer"]],
               gold_index=0, specific={"name": line["question"].split()[2]})


TASKS_TABLE = [LightevalTaskConfig(
    name="explain", prompt_function=prompt, hf_repo="%s", hf_subset="default", evaluation_splits=["train"],
    hf_avail_splits=["train"], metrics=[Metrics.exact_match], generation_size=60, stop_sequence=["\\nQuestion:"])]
"""


def lighteval(out: Path, weights: Path) -> None:
    """lighteval: a custom task, with details."""
    folder = Path("lighteval-data")
    folder.mkdir(exist_ok=True)
    shutil.copy("questions.jsonl", folder / "train.jsonl")
    Path("light_task.py").write_text(LIGHTEVAL_TASK % folder)
    arguments = f"model_name={weights},max_length=256,batch_size=8,generation_parameters={{temperature:0.8}}"
    run("lighteval", "accelerate", arguments, "explain|0", "--custom-tasks", "light_task.py",
        "--output-dir", "light", "--save-details")  # fmt: skip
    for path in [*Path("light").rglob("details_*.parquet"), *Path("light").rglob("results_*.json")]:
        shutil.copy(path, out / path.name.replace("|", "_"))  # which names of files may not have everywhere


def trl(out: Path, weights: Path, rows: list[dict[str, str]]) -> None:
    """TRL: the completions that GRPO logs, two steps."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    config = GRPOConfig(
        output_dir="grpo", max_steps=2, logging_steps=1, log_completions=True, num_generations=2, seed=1,
        per_device_train_batch_size=24, max_completion_length=60, use_cpu=True, report_to="none", save_strategy="no",
        temperature=0.8,
    )  # fmt: skip
    data = Dataset.from_list([{"prompt": asked(r)} for r in rows])
    trainer = GRPOTrainer(
        model=str(weights), reward_funcs=lambda completions, **_: [len(c) / 100 for c in completions], args=config,
        train_dataset=data,
    )  # fmt: skip
    trainer.train()
    for path in Path("grpo").rglob("completions_*.parquet"):
        shutil.copy(path, out / path.name)


def saved(out: Path, rows: list[dict[str, str]]) -> None:
    """Hugging Face datasets: the references as a folder that it saves."""
    from datasets import Dataset

    Dataset.from_list([{"prompt": asked(r), "answer": r["answer"]} for r in rows]).save_to_disk(out)


def asked(row: dict[str, str]) -> str:
    """The prompt as the model sees it."""
    return f"Question: {row['question']}\nAnswer:"


def run(*command: str) -> None:
    """Run a command of this environment."""
    subprocess.run([str(Path(sys.executable).parent / command[0]), *command[1:]], check=True)


def main(target: Path, which: list[str]) -> None:
    """Write the logs of these harnesses (default: all) below a folder."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    work = Path(tempfile.gettempdir()) / "momus-logs"
    work.mkdir(exist_ok=True)
    target, weights = target.resolve(), Path("tiny-gpt2")
    os.chdir(work)  # names in the logs are relative to it
    kept = target / "questions.jsonl"
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else questions()
    if not weights.exists():
        weights.mkdir(parents=True)
        model(weights, rows)
    chosen = rows[:N]
    kept.write_text("".join(json.dumps(r) + "\n" for r in chosen))
    shutil.copy(kept, "questions.jsonl")
    makers = {
        "lm_eval": lambda out: lm_eval(out, weights),
        "inspect": lambda out: inspect(out, weights, chosen),
        "lighteval": lambda out: lighteval(out, weights),
        "trl": lambda out: trl(out, weights, chosen),
        "datasets": lambda out: saved(out, chosen),
    }
    for name in which or makers:
        (target / name).mkdir(exist_ok=True)
        makers[name](target / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
