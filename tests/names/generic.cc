// generic.cc - templates of the standard library inlined into each other.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#ifdef REGEX /* most of the code, which takes a compiler five seconds */
#include <regex>
#endif
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

static std::string word(unsigned i)
{
	std::ostringstream s;
	s << "k" << i * 7 % 997 << '-' << i % 13;
	return s.str();
}

template <typename K> struct Tree {
	std::map<K, std::vector<unsigned>> rows;
	void add(const K &k, unsigned v) { rows[k].push_back(v); }
	unsigned sum() const
	{
		return std::accumulate(rows.begin(), rows.end(), 0u,
			[](unsigned n, const auto &r) {
				return n + std::accumulate(r.second.begin(),
					r.second.end(), 0u);
			});
	}
};

int main(int argc, char **)
{
	Tree<std::string> tree;
	std::unordered_map<std::string, size_t> seen;
#ifdef REGEX
	std::regex form("k([0-9]+)-([0-9]+)");
#endif
	std::vector<std::string> words;

	for (unsigned i = 0; i < 3000u * argc; i++)
		words.push_back(word(i));
	std::stable_sort(words.begin(), words.end(), std::greater<>());
	for (const auto &w : words) {
#ifdef REGEX
		std::smatch m;
		if (std::regex_match(w, m, form))
			tree.add(m[1], std::stoul(m[2]));
#else
		auto dash = std::find(w.begin(), w.end(), '-');
		if (dash != w.end())
			tree.add(std::string(w.begin() + 1, dash),
				std::stoul(std::string(dash + 1, w.end())));
#endif
		seen[w]++;
	}
	std::cout << tree.sum() << ' ' << seen.size() << '\n';
}
