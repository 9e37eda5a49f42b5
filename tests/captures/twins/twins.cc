/* twins.cc - the same as twins.c in C++: templates, overloads, lambdas, and a
 * nameless namespace. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace {
template <class T> struct Matrix {
	T a[16][16];

	Matrix operator*(const Matrix &o) const
	{
		Matrix r{};

		for (int i = 0; i < 16; i++)
			for (int j = 0; j < 16; j++)
				for (int k = 0; k < 16; k++)
					r.a[i][j] += a[i][k] * o.a[k][j];
		return r;
	}
};

unsigned mix(int x)
{
	unsigned h = (unsigned)x;

	for (int i = 0; i < 40; i++)
		h = (h ^ (h >> 7)) * 16777619u;
	return h;
}

unsigned mix(const std::string &s)
{
	unsigned h = 0;

	for (char c : s)
		h = (h ^ (unsigned char)c) * 16777619u;
	return h;
}
}

template <class K, class V> struct Cache {
	std::map<K, V> of;

	template <class F> V get(const K &k, F &&make)
	{
		auto i = of.find(k);

		return i != of.end() ? i->second : of[k] = make(k);
	}
};

__attribute__((noinline)) static unsigned step(Cache<std::string, unsigned> &c,
					       std::vector<int> &v, int n)
{
	Matrix<double> m{};
	unsigned sum = c.get("key" + std::to_string(n % 50),
			     [](const std::string &s) { return mix(s); });

	for (int i = 0; i < 16; i++)
		m.a[i][i] = i;
	m = m * m;
	for (size_t i = 0; i < v.size(); i++)
		v[i] = (int)(mix((int)i) >> 8);
	std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; });
	return sum + (unsigned)v[3] + (unsigned)m.a[2][2];
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100;
	Cache<std::string, unsigned> c;
	std::vector<int> v(500);
	unsigned sum = 0;

	while (n--)
		sum += step(c, v, n);
	printf("%u\n", sum);
}
