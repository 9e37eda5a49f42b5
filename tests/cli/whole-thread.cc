// whole-thread.cc - calls whole_leaf() from a thread of libstdc++.
#include <thread>

extern "C" {
void whole_inner(void);
void whole_maps(void);
volatile int whole_count;

__attribute__((noinline)) void whole_top(int n)
{
	whole_count = whole_count + n;
	whole_inner();
	whole_count = whole_count + 1;
}
}

int main()
{
	whole_maps();
	std::thread t([] { whole_top(1); whole_count = 2; });
	t.join();
	return 0;
}
