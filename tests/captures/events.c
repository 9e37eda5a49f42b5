/* events.c - hits a few tracepoints with flags, symbols, addresses and arrays
 * in their text; see README.md. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
struct all {
	int32_t arr[4];
	uint16_t x16[3];
};
__attribute__((noinline)) int probed(struct all *p, long n)
{
	__asm__ volatile("" ::: "memory");
	return (int)(n + p->arr[0]);
}
int main(void)
{
	struct all a = { { 1, -2, 3, 4 }, { 65535, 2, 3 } };
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(4321),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timespec t = { 0, 1000 };
	volatile int sum = 0;
	for (int i = 0; i < 4; i++) {
		a.arr[1]--;
		sum += probed(&a, i - 2);
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		connect(fd, (void *)&to, sizeof(to));
		close(fd);
		char *m = mmap(0, 16384, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		m[0] = m[8192] = 1;
		munmap(m, 16384);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	}
	return 0;
}
