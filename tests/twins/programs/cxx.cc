// cxx.cc - what C++ does to stacks: templates, lambdas, virtual functions,
// exceptions, std::thread and std::async, coroutines.
// usage: cxx SECONDS (of processor time)
#include <algorithm>
#include <ctime>
#include <cstdlib>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#ifdef __cpp_impl_coroutine
#include <coroutine>
#endif

static volatile unsigned long sink;

template <int N> struct tower {
	__attribute__((noinline)) static unsigned long climb(unsigned long n)
	{
		return tower<N - 1>::climb(n + N) ^ (n << 3);
	}
};

template <> struct tower<0> {
	__attribute__((noinline)) static unsigned long climb(unsigned long n)
	{
		unsigned long h = n;

		for (int i = 0; i < 400; i++)
			h = h * 33 ^ (h >> 5);
		return h;
	}
};

struct shape {
	virtual ~shape() = default;
	virtual double area(int depth) const = 0;
};

struct nested : shape {
	std::unique_ptr<shape> in;
	explicit nested(int n)
	{
		if (n)
			in = std::make_unique<nested>(n - 1);
	}
	double area(int depth) const override
	{
		double s = depth;

		for (int i = 0; i < 50; i++)
			s = s * 1.0001 + i;
		return in ? in->area(depth + 1) + s : s;
	}
};

__attribute__((noinline)) static int thrower(int n)
{
	std::string held(static_cast<size_t>(n) + 20, 'x');

	if (n > 8)
		throw std::runtime_error(held);
	return thrower(n + 1) + static_cast<int>(held.size());
}

__attribute__((noinline)) static void exceptions()
{
	for (int i = 0; i < 4; i++)
		try {
			sink += static_cast<unsigned long>(thrower(i));
		} catch (const std::exception &) {
			sink++;
		}
}

__attribute__((noinline)) static void lambdas()
{
	std::vector<std::string> words;
	std::map<std::string, int> count;
	std::function<int(int)> fib = [&](int n) {
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	};

	for (int i = 0; i < 150; i++)
		words.push_back(std::to_string(i * 7919 % 1000));
	std::sort(words.begin(), words.end(),
		  [](const std::string &a, const std::string &b) {
			  return a.size() != b.size() ? a.size() < b.size()
						      : a < b;
		  });
	for (const auto &w : words)
		count[w]++;
	std::ostringstream out;
	out << 12.5 << std::hex << count.size();
	sink += out.str().size() + static_cast<unsigned long>(fib(13));
}

#ifdef __cpp_impl_coroutine
struct numbers {
	struct promise_type {
		unsigned long now = 0;
		numbers get_return_object()
		{
			return numbers{ std::coroutine_handle<
				promise_type>::from_promise(*this) };
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		std::suspend_always yield_value(unsigned long v)
		{
			now = v;
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			std::terminate();
		}
	};
	std::coroutine_handle<promise_type> handle;
};

static numbers counting(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		co_yield tower<2>::climb(i);
}

__attribute__((noinline)) static void coroutines()
{
	numbers c = counting(60);

	while (!c.handle.done()) {
		sink += c.handle.promise().now;
		c.handle.resume();
	}
	c.handle.destroy();
}
#else
static void coroutines()
{
}
#endif

static void work(double seconds)
{
	nested deep(12);
	struct timespec t;

	do {
		exceptions();
		lambdas();
		for (unsigned long i = 0; i < 40; i++)
			sink += tower<6>::climb(i);
		for (int i = 0; i < 40; i++)
			sink += static_cast<unsigned long>(deep.area(1));
		coroutines();
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (static_cast<double>(t.tv_sec) +
			 static_cast<double>(t.tv_nsec) / 1e9 <
		 seconds);
}

int main(int argc, char **argv)
{
	double seconds = (argc > 1 ? std::atof(argv[1]) : 1) / 3;
	std::thread other(work, seconds);
	auto task = std::async(std::launch::async, work, seconds);

	work(seconds);
	other.join();
	task.get();
	return 0;
}
