"""An ``hf-folder`` loads with ``AutoTokenizer``, and encodes as its ``tokenizer.json`` does.

There are only a few tests, because importing ``transformers`` takes seconds.
"""

import json
import warnings

import pytest

from spmcompat.tools.export import hf_folder, tokenizer_json
from spmcompat.tools.export.causes import TIE, Reference
from spmcompat.tools.export.exporting import write_files
from spmcompat.tools.export.hard_lines import hard_lines
from tests.unit.tools.export.models import TEXT, train, trained


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
    write_files(hf_folder.files(model), str(path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers import AutoTokenizer  # noqa: PLC0415

        loaded = hf_folder.load(str(path))
        tokenizer = AutoTokenizer.from_pretrained(str(path), local_files_only=True)
    reference = Reference(model)
    lines = [*hard_lines(model), *TEXT[:8]]
    expected, actual = reference.encode(lines), loaded.encode(lines)
    from spmcompat.tools.export.verifying import compare  # noqa: PLC0415

    assert set(compare(reference, loaded, lines).causes) <= {TIE}
    assert model_type == "unigram" or actual == expected
    assert loaded.decode is not None
    for ids in expected:
        assert loaded.decode(ids) == reference.decode(ids)
    assert tokenizer.is_fast
    assert (tokenizer.unk_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id) == (0, 1, 2)
    assert len(tokenizer) == len(model.pieces)
