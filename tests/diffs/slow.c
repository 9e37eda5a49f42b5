/* slow.c - to be preloaded: a pread64() that takes longer. */
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t pread64(int fd, void *to, size_t n, off_t at);

ssize_t pread64(int fd, void *to, size_t n, off_t at)
{
	static volatile unsigned long sum;

	for (unsigned long i = 0; i < 1000000; i++)
		sum += i;
	return syscall(SYS_pread64, fd, to, n, at);
}
