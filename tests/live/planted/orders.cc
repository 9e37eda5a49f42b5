// orders.cc - a program with some even work, in which causes.py plants one change:
// each constant of that name is 1 in one build, and what has NOINLINE is inlined
// in another.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

static volatile uint64_t sink;
static std::mutex door;

__attribute__((noinline)) uint64_t mix(uint64_t x, int rounds)
{
	for (int i = 0; i < rounds * (10 + 8 * PLANT_LEAF) / 10; i++)
		x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u + i;
	return x;
}

__attribute__((noinline)) uint64_t price(uint64_t seed)
{
	double sum = 0;

	for (int i = 0; i < 16000; i++) {
		seed = seed * 6364136223846793005u + 1;
		sum += (double)(seed >> 40) / (1.0 + (double)(seed & 1023));
	}
	return (uint64_t)sum;
}

__attribute__((noinline)) uint64_t checksum(const std::vector<uint32_t> &v)
{
	uint64_t sum = 1;

	/* else the compiler calls it once, as it has no effect */
	asm volatile("");
	for (int again = 0; again < 10 + 8 * PLANT_SHARED; again++)
		for (uint32_t x : v)
			sum = (sum << 5 | sum >> 59) ^ x;
	return sum;
}

__attribute__((noinline)) uint64_t pack(const std::vector<uint32_t> &v)
{
	uint64_t out = checksum(v);

	for (uint32_t x : v)
		out += x * out | 1;
	return out;
}

__attribute__((noinline)) uint64_t verify(const std::vector<uint32_t> &v)
{
	uint64_t out = 0;

	for (int i = 0; i < 1 + 2 * PLANT_CALLER; i++)
		out += checksum(v);
	for (uint32_t x : v)
		out ^= x / (out | 3);
	return out;
}

__attribute__((noinline)) uint64_t hash_one(const char *s)
{
	uint64_t h = 14695981039346656037u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return h;
}

__attribute__((noinline)) uint64_t letters(const char *s)
{
	uint64_t n = 0;

	/* a table took twice as long in runs where it lay badly */
	for (; *s; s++)
		n += (uint64_t)(*s & 31) << (*s & 7);
	return n;
}

__attribute__((noinline)) uint64_t insert_word(std::vector<uint64_t> &t, uint64_t h)
{
	size_t at = h % t.size();

	for (int i = 0; i < 40 && t[at] && t[at] != h; i++)
		at = (at + 1) % t.size();
	t[at] = h;
	return at;
}

__attribute__((noinline)) uint64_t index_words(uint64_t seed)
{
	static thread_local std::vector<uint64_t> table(509);
	uint64_t sum = 0;
	char word[48];

	for (int i = 0; i < 110; i++) {
		snprintf(word, sizeof(word), "word%llu-of-the-index",
			 (unsigned long long)(mix(seed, 2) + i));
		for (int k = 0; k < 2 + 3 * PLANT_SPREAD; k++) {
			sum += letters(word);
			sum += insert_word(table, hash_one(word) + k);
		}
	}
	return sum;
}

NOINLINE static uint64_t scale(const std::vector<uint32_t> &v, uint64_t by)
{
	uint64_t sum = 0;

	for (int i = 0; i < 9; i++)
		for (uint32_t x : v)
			sum += (x * by) >> 3 ^ sum >> 5;
	return sum;
}

__attribute__((noinline)) uint64_t matrix(const std::vector<uint32_t> &v)
{
	uint64_t sum = scale(v, 77);

	for (uint32_t x : v)
		sum += x % (sum | 1);
	return sum;
}

__attribute__((noinline)) uint64_t parse(uint64_t seed)
{
	uint64_t sum = 0;

	for (int i = 0; i < 60; i++) {
		std::string text = std::to_string(seed + i) + ",some field,another one";

		for (int k = 0; k < 12 * PLANT_ALLOC; k++) {
			char *copy = strdup(text.c_str());

			sum += copy[k & 7];
			free(copy);
		}
		for (char c : text)
			sum = sum * 31 + (uint64_t)c;
	}
	return sum;
}

__attribute__((noinline)) uint64_t push_order(std::vector<uint64_t> &queue, uint64_t x)
{
	for (int i = 0; i < 120; i++) {
		for (int k = 0; k < 3 * PLANT_LOCK; k++) {
			std::lock_guard<std::mutex> held(door);

			sink = x;
		}
		queue[(x + i) % queue.size()] ^= x * i;
		x = x * 2862933555777941757u + 3037000493u;
	}
	return x;
}

__attribute__((noinline)) uint64_t sort_rows(std::vector<uint32_t> v)
{
	for (size_t i = 1; i < 100; i++)
		for (size_t k = i; k && v[k - 1] > v[k]; k--)
			std::swap(v[k - 1], v[k]);
	return v[7];
}

__attribute__((noinline)) void clerk(int rounds)
{
	std::vector<uint32_t> v(600);
	std::vector<uint64_t> queue(64);

	for (size_t i = 0; i < v.size(); i++)
		v[i] = (uint32_t)(i * 2654435761u);
	for (int i = 0; i < rounds; i++) {
		sink = index_words(i) + pack(v) + push_order(queue, i);
		sink = parse(i) + mix(i, 6000);
		if (!PLANT_MOVED)
			sink = sort_rows(v);
	}
}

__attribute__((noinline)) void teller(int rounds)
{
	std::vector<uint32_t> v(600);

	for (size_t i = 0; i < v.size(); i++)
		v[i] = (uint32_t)(i * 2654435761u);
	for (int i = 0; i < rounds; i++) {
		sink = price(i) + verify(v) + matrix(v);
		if (PLANT_MOVED)
			sink = sort_rows(v);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	std::thread a(clerk, rounds), b(teller, rounds);

	a.join();
	b.join();
}
