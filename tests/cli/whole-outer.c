/* whole-outer.c - calls whole_leaf() from main() and from a thread. */
#include <pthread.h>
#include <stddef.h>

void whole_inner(void);
void whole_maps(void);
volatile int whole_count;

__attribute__((noinline)) void whole_middle(int n)
{
	whole_count += n;
	whole_inner();
	whole_count++;
}

__attribute__((noinline)) void whole_top(int n)
{
	whole_count -= n;
	whole_middle(n);
	whole_count++;
}

void *whole_routine(void *arg)
{
	whole_top(2);
	whole_count++;
	return arg;
}

int main(void)
{
	pthread_t t;

	whole_maps();
	whole_top(1);
	if (pthread_create(&t, NULL, whole_routine, NULL) ||
	    pthread_join(t, NULL))
		return 1;
	return 0;
}
