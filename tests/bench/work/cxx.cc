// cxx.cc - what C++ does to stacks: exceptions, lambdas, inlined and virtual
// functions, stubs of a PLT, realigned stacks, signals, threads.
// usage: cxx SECONDS
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <thread>
#include <vector>

static volatile unsigned long sink;

struct shape {
	virtual ~shape() = default;
	virtual double area(int depth) const = 0;
};

struct square : shape {
	double side;
	explicit square(double s) : side(s)
	{
	}
	double area(int depth) const override
	{
		return depth ? square(side + 1).area(depth - 1) : side * side;
	}
};

struct nested : shape {
	std::unique_ptr<shape> in;
	explicit nested(int n)
	{
		if (n)
			in = std::make_unique<nested>(n - 1);
		else
			in = std::make_unique<square>(2);
	}
	double area(int depth) const override
	{
		return in->area(depth) + 1;
	}
};

__attribute__((noinline)) static int thrower(int n)
{
	std::string held(static_cast<size_t>(n) + 20, 'x');

	if (n > 12)
		throw std::runtime_error(held);
	return thrower(n + 1) + static_cast<int>(held.size());
}

__attribute__((noinline)) static void exceptions(int n)
{
	for (int i = 0; i < n; i++)
		try {
			sink += static_cast<unsigned long>(thrower(i % 8));
		} catch (const std::exception &e) {
			sink += std::strlen(e.what());
		}
}

__attribute__((noinline)) static void lambdas(std::vector<std::string> words)
{
	std::map<std::string, int> count;
	std::function<int(int)> fib = [&](int n) {
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	};

	std::sort(words.begin(), words.end(),
		  [](const std::string &a, const std::string &b) {
			  return a.size() != b.size() ? a.size() < b.size()
						      : a < b;
		  });
	std::for_each(words.begin(), words.end(),
		      [&](const std::string &w) { count[w]++; });
	sink += count.size() + static_cast<unsigned long>(fib(14));
}

// Larger alignment than the ABI's, and a size that only the run knows.
__attribute__((noinline)) static void realigned(size_t n)
{
	alignas(128) volatile char aligned[256];
	char *more = static_cast<char *>(__builtin_alloca(n));

	for (size_t i = 0; i < n; i++)
		more[i] = static_cast<char>(i);
	for (size_t i = 0; i < 256; i++)
		aligned[i] = more[i % n];
	sink += static_cast<unsigned long>(aligned[7] + std::atoi("17"));
	qsort(more, n, 1, [](const void *a, const void *b) {
		return *static_cast<const char *>(a) -
		       *static_cast<const char *>(b);
	});
}

__attribute__((noinline)) static void regexes()
{
	static const std::regex re("(a|b)*c?(d+)(e[fg]*)+");
	std::ostringstream out;

	out << "ababab" << 12.5 << "cdddefgefg" << std::hex << 255;
	sink += std::regex_search(out.str(), re);
}

// Nothing that allocates: the interrupted code may be doing just that.
extern "C" void on_tick(int)
{
	int v[400];

	for (int i = 0; i < 400; i++)
		v[i] = i * 7919 % 401;
	std::sort(v, v + 400, [](int a, int b) { return a > b; });
	sink += static_cast<unsigned long>(v[3]);
}

static void work(double seconds)
{
	auto end = std::chrono::steady_clock::now() +
		   std::chrono::duration<double>(seconds);
	std::vector<std::string> words;
	nested deep(6);

	for (int i = 0; i < 300; i++)
		words.push_back(std::to_string(i * 7919 % 1000));
	while (std::chrono::steady_clock::now() < end) {
		exceptions(20);
		lambdas(words);
		for (size_t n = 100; n < 2000; n += 300)
			realigned(n);
		regexes();
		sink += static_cast<unsigned long>(deep.area(5));
	}
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? std::atof(argv[1]) : 1;
	struct itimerval every = { { 0, 3000 }, { 0, 3000 } };

	std::signal(SIGALRM, on_tick);
	setitimer(ITIMER_REAL, &every, nullptr);
	std::thread other(work, seconds);
	work(seconds);
	other.join();
	return 0;
}
