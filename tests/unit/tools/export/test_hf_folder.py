"""An ``hf-folder`` loads with ``AutoTokenizer``, and encodes as its ``tokenizer.json`` does.

There are only a few tests, because importing ``transformers`` takes seconds.
"""

import json
import warnings

import pytest

from spmcompat.tools.export import hf_folder, tokenizer_json
from spmcompat.tools.export.causes import TIE, Reference
from spmcompat.tools.export.exporting import write_export
from spmcompat.tools.export.hard_lines import hard_lines
from tests.unit.tools.export.models import TEXT, decoders, train, trained


@pytest.mark.slow
def test_the_folder_names_the_special_pieces() -> None:
    model = train("unigram", pad_id=3, bos_id=-1, eos_piece="<end>", control_symbols="<sep>")
    files = hf_folder.files(model)
    special = json.loads(files["special_tokens_map.json"])
    assert special == {
        "unk_token": "<unk>",
        "eos_token": "<end>",
        "pad_token": "<pad>",
        "additional_special_tokens": ["<sep>"],
    }
    assert json.loads(files["tokenizer_config.json"]).items() >= special.items()
    assert files["tokenizer.json"] == tokenizer_json.files(model)[""]
    assert files["tokenizer.model"] == model.SerializeToString()


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_auto_tokenizer_encodes_and_decodes_like_sentencepiece(
    model_type: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed")
    model = trained(model_type, "nmt_nfkc", "symbols")
    path = tmp_path_factory.mktemp("hf")
    write_export(hf_folder.files(model), str(path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers import AutoTokenizer

        loaded = hf_folder.load(str(path))
        tokenizer = AutoTokenizer.from_pretrained(str(path), local_files_only=True)
    reference = Reference(model)
    lines = [*hard_lines(model), *TEXT[:8]]
    expected, actual = reference.encode(lines), loaded.encode(lines)
    from spmcompat.tools.export.verifying import compare_encodings

    assert set(compare_encodings(reference, loaded, lines).causes) <= {TIE}
    assert model_type == "unigram" or actual == expected
    decoded, _ = decoders(model)
    for ids in expected:
        assert tokenizer.decode(ids) == decoded(ids)
    assert tokenizer.is_fast
    assert (tokenizer.unk_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id) == (0, 1, 2)
    assert len(tokenizer) == len(model.pieces)


def test_transformers_saves_and_loads_all_options(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed")
    from transformers import AutoTokenizer

    model = train("bpe", control_symbols=["<|start|>", "<|end|>", "<pad>"], byte_fallback=True)
    first, second = (tmp_path_factory.mktemp(name) for name in ("first", "second"))
    template = first / "template"
    template.write_text(
        "{% for one in messages %}<|start|>{{ one.role }} {{ one.content }}<|end|>{% endfor %}"
    )
    options = hf_folder.FolderOptions(
        bos_token="<|start|>",
        eos_token="<|end|>",
        pad_token="<pad>",
        model_max_length=64,
        chat_template=str(template),
    )
    folder = first / "folder"
    files = hf_folder.with_options(hf_folder.files(model), model, options)
    write_export(files, str(folder))
    assert (folder / "tokenizer.model").read_bytes() == model.SerializeToString()
    loaded = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    loaded.save_pretrained(second)
    again = AutoTokenizer.from_pretrained(second, local_files_only=True)
    ids = {piece.piece: index for index, piece in enumerate(model.pieces)}
    messages = [{"role": "user", "content": "The quick brown fox"}] * 2
    lines = [*hard_lines(model), *TEXT[:8]]
    for one in (loaded, again):
        assert (one.bos_token, one.eos_token, one.pad_token) == ("<|start|>", "<|end|>", "<pad>")
        assert one.unk_token == "<unk>"
        assert one.model_max_length == 64
        assert one.split_special_tokens is False
        assert one.chat_template == template.read_text()
        assert set(one.all_special_tokens) == {
            "<unk>", "<s>", "</s>", "<pad>", "<|start|>", "<|end|>",
        }  # fmt: skip
        found = one.apply_chat_template(messages, tokenize=True, return_dict=False)
        assert [found.count(ids[text]) for text in ("<|start|>", "<|end|>")] == [2, 2]
        assert len(one(TEXT[0] * 9, truncation=True)["input_ids"]) == 64
        assert one(["a", "a b c"], padding=True)["input_ids"][0][-1] == ids["<pad>"]
    assert loaded(lines)["input_ids"] == again(lines)["input_ids"]
    assert (
        json.loads(loaded.backend_tokenizer.to_str())["model"]
        == json.loads(again.backend_tokenizer.to_str())["model"]
    )
    # Lines without control symbols are encoded as sentencepiece encodes them.
    plain = list(hf_folder.without_control_pieces(files, lines))
    assert len(plain) > 50
    assert again(plain, add_special_tokens=False)["input_ids"] == Reference(model).encode(plain)


def test_splitting_special_tokens_survives(tmp_path_factory: pytest.TempPathFactory) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed")
    from transformers import AutoTokenizer

    model = train("bpe")
    first, second = (str(tmp_path_factory.mktemp(name)) for name in ("first", "second"))
    write_export(hf_folder.files(model), first)
    AutoTokenizer.from_pretrained(first, local_files_only=True).save_pretrained(second)
    again = AutoTokenizer.from_pretrained(second, local_files_only=True)
    lines = ["a</s>b", "<s> <s>", "The quick brown fox"]
    encoded = again(lines, add_special_tokens=False)["input_ids"]
    assert encoded == Reference(model).encode(lines)
