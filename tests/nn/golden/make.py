"""Makes the golden logits of this folder with Hugging Face transformers (5.23.0 on torch 2.11.0; qwen2
and qwen3: 5.24.0 on torch 2.15.0).

    pip install torch transformers safetensors gguf
    python make.py [SmolLM2.gguf]

Writes llama/, gpt2/, qwen2/ and qwen3/ (tiny random models as safetensors, with logits in golden.json),
and, given the packaged SmolLM2-135M-Instruct, smollm2.json (largest logits after a few prompts).
"""
import json
import pathlib
import sys

import torch
import transformers

here = pathlib.Path(__file__).parent


def spread(model):
    """Larger than initial weights, so that every part of the network shows in the logits."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)


def tiny(name, model):
    folder = here / name
    spread(model)
    model.eval().save_pretrained(folder)
    for extra in ("generation_config.json",):
        (folder / extra).unlink(missing_ok=True)
    ids = torch.randint(model.config.vocab_size, (2, 9))
    with torch.no_grad():
        logits = model(ids).logits.double()
    golden = {"ids": ids.tolist(), "logits": [[[round(x, 5) for x in row] for row in one]
                                              for one in logits.tolist()]}
    (folder / "golden.json").write_text(json.dumps(golden) + "\n")


torch.manual_seed(20)
tiny("llama", transformers.LlamaForCausalLM(transformers.LlamaConfig(
    vocab_size=19, hidden_size=8, intermediate_size=12, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, head_dim=4, max_position_embeddings=16, tie_word_embeddings=False,
    rms_norm_eps=1e-5, rope_theta=1000.0, bos_token_id=0, eos_token_id=0)))
tiny("gpt2", transformers.GPT2LMHeadModel(transformers.GPT2Config(
    vocab_size=19, n_embd=8, n_layer=2, n_head=2, n_positions=16, n_inner=20, resid_pdrop=0.0,
    embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0)))

torch.manual_seed(67)
qwen = dict(vocab_size=19, hidden_size=8, intermediate_size=12, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=16, rms_norm_eps=1e-6,
            rope_parameters={"rope_type": "default", "rope_theta": 1000.0}, bos_token_id=0, eos_token_id=0)
tiny("qwen2", transformers.Qwen2ForCausalLM(transformers.Qwen2Config(tie_word_embeddings=True, **qwen)))
tiny("qwen3", transformers.Qwen3ForCausalLM(transformers.Qwen3Config(tie_word_embeddings=False, head_dim=6, **qwen)))

if len(sys.argv) > 1:
    file = pathlib.Path(sys.argv[1])
    model = transformers.AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, dtype=torch.float32).eval()
    prompts = [
        [1, 504, 3575, 282, 4649, 314],  # the one whose values were known before
        [28, 1062, 253, 655, 13, 732],
        [198, 42, 31000, 49151, 0, 2, 17, 17, 17, 900, 12345],
        list(range(3000, 3200)),
    ]
    golden = []
    for ids in prompts:
        with torch.no_grad():
            last = model(torch.tensor([ids])).logits[0, -1]
        best = last.topk(10)
        golden.append({"ids": ids, "top": best.indices.tolist(),
                       "logits": [round(x, 4) for x in best.values.tolist()],
                       "mean": round(last.mean().item(), 4)})
    (here / "smollm2.json").write_text(json.dumps(golden) + "\n")
