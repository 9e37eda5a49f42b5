/* locks.c - a program whose threads wait for locks of the kernel:
 * locks.data.zst.
 *
 * Four threads map and unmap memory, which takes the lock of the address space
 * of their process, and write to one file, which takes that of its inode. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOCKS_LEN (1 << 18)

static int file;
static char data[LOCKS_LEN];

static void *locks_take(void *arg)
{
	(void)arg;
	for (int i = 0; i < 40; i++) {
		char *p = mmap(NULL, LOCKS_LEN, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (int k = 0; p != MAP_FAILED && k < LOCKS_LEN; k += 4096)
			p[k] = 1;
		if (pwrite(file, data, LOCKS_LEN, 0) != LOCKS_LEN)
			perror("pwrite");
		munmap(p, LOCKS_LEN);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[4];

	file = open(argc > 1 ? argv[1] : "locks.tmp",
		    O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, locks_take, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
