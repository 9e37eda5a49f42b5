/* proxy.c - what is between a client and a server, and sleeps.
 *
 * usage: proxy LISTEN CONNECT MICROSECONDS
 *
 * Both are sockets of the file system. One thread of each direction of each
 * connection; answers are late by so much. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static useconds_t late;

struct way {
	int from, to;
	useconds_t late;
};

static void *pass_bytes(void *arg)
{
	struct way *w = arg;
	char buf[65536];
	ssize_t n;

	while ((n = read(w->from, buf, sizeof(buf))) > 0) {
		if (w->late)
			usleep(w->late);
		if (write(w->to, buf, (size_t)n) < 0)
			break;
	}
	shutdown(w->to, SHUT_WR);
	return NULL;
}

static void start_way(int from, int to, useconds_t us)
{
	struct way *w = malloc(sizeof(*w));
	pthread_t t;

	*w = (struct way){ from, to, us };
	if (pthread_create(&t, NULL, pass_bytes, w))
		exit(1);
}

static struct sockaddr_un place(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	strncpy(a.sun_path, path, sizeof(a.sun_path) - 1);
	return a;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	struct sockaddr_un to = place(argv[2]), at = place(argv[1]);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), one;

	late = (useconds_t)strtoul(argv[3], NULL, 10);
	unlink(argv[1]);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 64))
		return 1;
	while ((one = accept(fd, NULL, NULL)) >= 0) {
		int other = socket(AF_UNIX, SOCK_STREAM, 0);

		if (connect(other, (struct sockaddr *)&to, sizeof(to)))
			return 1;
		start_way(one, other, 0);
		start_way(other, one, late);
	}
	return 0;
}
