"""The PyTorch snippet of impls/dr_post_training/README.md: run on a small model, its file planned by
assay, and the plan's scores compared with torch's own. Exit code 77 where torch or safetensors is
not there. Usage: pytorch_snippet_test.py README.md ASSAY"""
import json
import re
import subprocess
import sys
import tempfile

try:
    import torch
    import safetensors.torch  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, torch.nn.Linear(width, width, bias=False))
        self.up_proj = torch.nn.Linear(width, 2 * width, bias=False)
        self.down_proj = torch.nn.Linear(2 * width, width, bias=False)

    def forward(self, x):
        scores = torch.softmax(self.q_proj(x) @ self.k_proj(x).T, -1)
        x = x + self.o_proj(scores @ self.v_proj(x))
        return x + self.down_proj(torch.relu(self.up_proj(x)))


class Model(torch.nn.Module):
    def __init__(self, width=6, vocabulary=11):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocabulary, width)
        self.layers = torch.nn.ModuleList([Block(width), Block(width)])
        self.lm_head = torch.nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(x)


def mean_loss(model, ids):
    return torch.nn.functional.cross_entropy(model(ids[:-1]), ids[1:])


def main(readme, assay):
    text = open(readme, encoding="utf-8").read()
    code = re.search(r"<!-- snippet: .*?-->\n```python\n(.*?)```", text, re.S)[1]
    snippet = {}
    exec(code, snippet)

    torch.manual_seed(1)
    model = Model()
    general = [torch.randint(0, 11, (length,)) for length in (5, 9, 7, 12)]
    target = [torch.randint(0, 11, (6,)) for _ in range(3)]
    tokens = [len(ids) - 1 for ids in general]
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/gradients.safetensors"
        snippet["dump"](file, model, mean_loss, general, target, tokens, ["a", "b", "a", "b"])
        plan = json.loads(subprocess.run([assay, "plan", "dr_post_training", "--gradients", file, "--json"],
                                         check=True, capture_output=True, text=True).stdout)
    assert plan["n"] == 4 and plan["m"] == 3 and len(plan["groups"]) == 12, plan
    assert [source["source"] for source in plan["sources"]] == ["a", "b"]
    layers = {}
    for index, block in enumerate(model.layers):
        for name, module in block.named_children():
            layers[f"layer{index}/{snippet['NAMES'][name]}"] = module.weight
    for group in plan["groups"]:
        weight = layers.pop(group["layers"][0])

        def gradient(ids):
            return torch.autograd.grad(mean_loss(model, ids), weight)[0].double()

        wanted = sum(gradient(ids) for ids in target) / len(target)
        for row, ids in enumerate(general):
            expected = 4 * tokens[row] / sum(tokens) * (gradient(ids) * wanted).sum().item()
            assert abs(group["scores"][row] - expected) <= 1e-6 * abs(expected) + 1e-12, (group, expected)
    assert not layers, layers
    print("the plan's scores are torch's")


main(*sys.argv[1:])
