#include <string>
#include <vector>

int Longest(const std::vector<std::string>& names) {
  int best = 0;
  for (const std::string& name : names) {
    int length = static_cast<int>(name.size());
    if (length > best) best = length;
  }
  return best;
}
