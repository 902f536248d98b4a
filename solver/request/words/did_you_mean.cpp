#include "solver/request/words/did_you_mean.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace staghorn {

namespace {

// The number of insertions, deletions, replacements and exchanges of neighbours that turn one word into the other
// [optimal string alignment; Boytsov, ACM J. Exp. Algorithmics 16 (2011)].
int edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<int>> of(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        of[i][j] = int(i + j);
        continue;
      }
      of[i][j] = std::min({of[i - 1][j] + 1, of[i][j - 1] + 1, of[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        of[i][j] = std::min(of[i][j], of[i - 2][j - 2] + 1);
    }
  return of[a.size()][b.size()];
}

// "tol" and "tolerance", "verify" and "no-verify", "maxiter" and "max-iterations": one stands in the other, from the
// start of a word on.
bool shares_its_words(std::string word, std::string choice) {
  if (word.size() < 3 || choice.size() < 3) return false;
  const auto in_words = [](std::string& text) {
    std::replace(text.begin(), text.end(), '_', '-');
    text.insert(text.begin(), '-');
  };
  in_words(word);
  in_words(choice);
  if (choice.find(word) != std::string::npos || (word + "-").find(choice + "-") != std::string::npos) return true;
  std::erase(word, '-');
  std::erase(choice, '-');
  return choice.starts_with(word);
}

// The words of "A, B or C", or of "A | B:x | C:y" as far as a colon or a parenthesis; what has blanks or begins with a
// digit is no word.
std::vector<std::string> single_words(std::string list) {
  for (const std::string_view separator : {" or ", " | "})
    for (std::size_t at; (at = list.find(separator)) != std::string::npos;) list.replace(at, separator.size(), ", ");
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(", ", begin), list.size());
    std::string word = list.substr(begin, end - begin);
    word.resize(std::min({word.find(':'), word.find(" ("), word.size()}));
    if (!word.empty() && std::isalpha(static_cast<unsigned char>(word[0])) && word.find(' ') == std::string::npos)
      words.push_back(word);
    begin = end + 2;
  }
  return words;
}

}  // namespace

std::string did_you_mean(const std::string& word, const std::vector<std::string>& choices) {
  const auto closest = std::min_element(choices.begin(), choices.end(), [&](const auto& a, const auto& b) {
    return edit_distance(word, a) < edit_distance(word, b);
  });
  const bool close =
      closest != choices.end() && edit_distance(word, *closest) <= std::max<int>(1, int(word.size()) / 3);
  std::string meant = close ? *closest : "";
  for (const std::string& choice : choices)
    if (!close && shares_its_words(word, choice) && (meant.empty() || choice.size() < meant.size())) meant = choice;
  return meant.empty() ? "" : " Did you mean '" + meant + "'?";
}

std::string with_did_you_mean(const std::string& message) {
  constexpr std::string_view before = "expected ", between = ", found '";
  const std::size_t found = message.rfind(between), expected = message.rfind(before, found);
  if (found == std::string::npos || expected == std::string::npos || !message.ends_with('\'')) return message;
  const std::string word = message.substr(found + between.size(), message.size() - 1 - found - between.size());
  const std::vector<std::string> choices =
      single_words(message.substr(expected + before.size(), found - expected - before.size()));
  const std::string begun = word.substr(0, word.find(':'));
  if (std::find(choices.begin(), choices.end(), begun) != choices.end()) return message;  // what follows is wrong
  const std::string question = did_you_mean(begun, choices);
  return question.empty() ? message : message + "." + question;
}

}  // namespace staghorn
