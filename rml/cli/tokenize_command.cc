#include <cstdio>
#include <memory>
#include <string>

#include "rml/cli/commands.h"
#include "rml/cli/model_options.h"
#include "rml/cli/report.h"
#include "rml/cli/text_input.h"
#include "rml/io/json.h"
#include "rml/text/tokenizer.h"

namespace rml::cli {

namespace {

using core::Status;

struct TokenizeCommand {
  std::string model;
  TextInput input{.option = "--text"};
  bool no_special = false;
  bool no_parse_special = false;
  bool json = false;

  Status Run() const;
};

Status TokenizeCommand::Run() const {
  RML_ASSIGN(const std::string path, ResolveModel(model));
  RML_ASSIGN(const std::string text, input.Read());
  RML_ASSIGN(const auto tokenizer, text::Tokenizer::Open(path));
  RML_ASSIGN(const auto ids, tokenizer->Encode(text, {.add_special = !no_special,
                                                      .parse_special = !no_parse_special}));
  if (json) {
    io::Json id_list = io::Json::MakeArray();
    io::Json tokens = io::Json::MakeArray();
    for (const text::TokenId id : ids) {
      id_list.Append(id);
      tokens.Append(tokenizer->Piece(id));
    }
    io::Json out = io::Json::MakeObject();
    out.Set("ids", std::move(id_list));
    out.Set("tokens", std::move(tokens));
    std::puts(out.Dump().c_str());
  } else {
    for (const text::TokenId id : ids) {
      std::printf("%6d -> %s\n", id, io::Json(tokenizer->TokenBytes(id)).Dump().c_str());
    }
  }
  return {};
}

}  // namespace

void AddTokenizeCommand(ArgParser& rml) {
  ArgParser parser = rml.Command("tokenize", "Show the tokens of a text",
                                 "rml tokenize smollm2-135m --text \"Hello world\" --json");
  const auto command = std::make_shared<TokenizeCommand>();
  parser.Positional(
      "MODEL", &command->model,
      "A GGUF file, a tokenizer.json, a folder with one, or the name of a pulled model", true);
  parser.Add("--text,-p,--prompt", &command->input.text,
             "The text (else --file, else standard input)");
  parser.Add("-f,--file", &command->input.file, "Read the text from this file");
  parser.Flag("--no-special,--no-bos", &command->no_special,
              "Add no BOS, EOS or post-processor tokens");
  parser.Flag("--no-parse-special", &command->no_parse_special,
              "Take the text of special tokens in the input for plain text");
  parser.Flag("--json", &command->json, "Print one JSON object with ids and tokens");
  parser.SetRun([command] { return ExitWith(command->Run()); });
}

}  // namespace rml::cli
