/* new_file.c - writes files that get their name when they are complete. */
#include "stitch/files/new_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"

#define TEMPS_MAX 8
#define JOURNAL "-journal"

/* Names of temporary files, removed at exit: mem.c or a signal may end the
 * program without its cleanup. A child process does not own the names of its
 * parent. */
static char *new_file_temps[TEMPS_MAX];
static pid_t new_file_owner;
/* The thread that ends the program may be another one than that which makes
 * files; it takes the lock and keeps it. */
static pthread_mutex_t new_file_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/* Removes a temporary file and its journal, which SQLite keeps next to it; the
 * journal's name is stored after that of the file. */
static void new_file_unlink(const char *temp)
{
	unlink(temp);
	unlink(temp + strlen(temp) + 1);
}

static void new_file_unlink_all(void)
{
	for (size_t i = 0; i < TEMPS_MAX; i++)
		if (new_file_temps[i])
			new_file_unlink(new_file_temps[i]);
}

static void new_file_at_exit(void)
{
	if (getpid() != new_file_owner)
		return;
	pthread_mutex_lock(&new_file_lock);
	new_file_unlink_all();
}

/* Without the lock another thread may free a name meanwhile; then the next run
 * removes the file. */
void new_file_abandon(void)
{
	if (getpid() != new_file_owner)
		return;
	for (int i = 0; i < 100; i++) {
		if (!pthread_mutex_trylock(&new_file_lock)) {
			new_file_unlink_all();
			return;
		}
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

static void new_file_forget(char *temp)
{
	pthread_mutex_lock(&new_file_lock);
	for (size_t i = 0; i < TEMPS_MAX; i++)
		if (new_file_temps[i] == temp)
			new_file_temps[i] = NULL;
	pthread_mutex_unlock(&new_file_lock);
	free(temp);
}

/* Returns the process in ".PID-N.tmp" or the name of its journal; 0 for any
 * other text. */
static pid_t new_file_pid(const char *text)
{
	char *end;

	if (*text != '.' || text[1] < '1' || text[1] > '9')
		return 0;
	long pid = strtol(text + 1, &end, 10);
	if (*end != '-' || end[1] < '0' || end[1] > '9' || pid > INT_MAX)
		return 0;
	long n = strtol(end + 1, &end, 10);
	if (strcmp(end, ".tmp") != 0 && strcmp(end, ".tmp" JOURNAL) != 0)
		return 0;
	return n > INT_MAX ? 0 : (pid_t)pid;
}

bool new_file_has_ended(pid_t pid)
{
	char text[512];
	const char *state = NULL;

	if (kill(pid, 0))
		return errno == ESRCH;
	snprintf(text, sizeof(text), "/proc/%ld/stat", (long)pid);

	FILE *f = fopen(text, "re");

	/* the process's name, in parentheses, may have any characters */
	if (f && fgets(text, sizeof(text), f))
		state = strrchr(text, ')');
	if (f)
		fclose(f);
	return state &&
	       (!strncmp(state, ") Z", 3) || !strncmp(state, ") X", 3));
}

bool new_file_owner_is_gone(const char *name, const char *base)
{
	size_t n = strlen(base);
	pid_t pid = strncmp(name, base, n) ? 0 : new_file_pid(name + n);

	return pid && new_file_has_ended(pid);
}

bool new_file_is_left(int dir, const char *name, const char *base)
{
	if (!new_file_owner_is_gone(name, base))
		return false;
	/* A file of this process is never opened, as closing it would end the
	 * locks of SQLite. */
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct stat st;
	int fd;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return false;
	fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool dead = fd >= 0 && !fcntl(fd, F_OFD_GETLK, &lock) &&
		    lock.l_type == F_UNLCK;
	if (fd >= 0)
		close(fd);
	return dead;
}

/* Returns the folder of path, to be freed. */
static char *new_file_folder(const char *path)
{
	size_t n = (size_t)(path_base(path) - path);
	char *dir = n ? mem_dup(path, n + 1) : mem_strdup("./");

	dir[n ? n : 2] = '\0';
	return dir;
}

/* The last folder that this process listed and found without files of dead
 * runs. It is not listed again for each of the thousands of files that 'follow'
 * makes. */
static struct {
	pid_t by;
	dev_t dev;
	ino_t ino;
} new_file_clean;

/* Returns the list of a folder, or NULL if it is known to be clean. */
static DIR *new_file_list(const char *folder, struct stat *st)
{
	DIR *d = opendir(folder);

	if (d && !fstat(dirfd(d), st) &&
	    (new_file_clean.by != getpid() ||
	     new_file_clean.dev != st->st_dev ||
	     new_file_clean.ino != st->st_ino))
		return d;
	if (d)
		closedir(d);
	return NULL;
}

/* Removes files that ended runs left for the same path. */
static void new_file_remove_dead(const char *path)
{
	const char *base = path_base(path);
	char *folder OWNED = new_file_folder(path);
	struct stat st;
	DIR *d = new_file_list(folder, &st);
	const struct dirent *e;
	bool clean = d != NULL;

	while (d && (e = readdir(d)))
		if (!new_file_is_left(dirfd(d), e->d_name, base) ||
		    unlinkat(dirfd(d), e->d_name, 0))
			clean &= !strstr(e->d_name, ".tmp");
	if (clean) {
		new_file_clean.by = getpid();
		new_file_clean.dev = st.st_dev;
		new_file_clean.ino = st.st_ino;
	}
	if (d)
		closedir(d);
}

static bool new_file_hurries;

void new_file_wait(bool wait)
{
	new_file_hurries = !wait;
}

bool new_file_waits(void)
{
	return !new_file_hurries;
}

int new_file_flush(int fd)
{
	if (new_file_hurries || !fsync(fd))
		return 0;
	return errno == EINVAL || errno == EROFS || errno == ENOSYS ? 0 : -1;
}

int new_file_flush_folder(const char *path)
{
	char *folder OWNED = new_file_hurries ? NULL : new_file_folder(path);
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int error = fd >= 0 && new_file_flush(fd) ? errno : 0;

	/* a folder that cannot be read cannot be synced */
	if (fd >= 0)
		close(fd);
	errno = error;
	return error ? -1 : 0;
}

/* Gives an open file a name, through /proc: linkat() of the descriptor itself
 * needs a privilege. */
static int new_file_link(int fd, const char *as)
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, link, AT_FDCWD, as, AT_SYMLINK_FOLLOW);
}

/* Gives the file of *fd, which has no name yet, a temporary name; creates the
 * file and leaves it open if *fd is -1. Returns the name, or NULL and errno. */
static char *new_file_create(const char *path, mode_t mode, int *fd)
{
	size_t size = strlen(path) + 48;
	char *temp = mem_new(2 * size, 1);
	int error = EEXIST;

	for (unsigned int i = 0; error == EEXIST && i < 1000; i++) {
		snprintf(temp, size, "%s.%ld-%u.tmp", path, (long)getpid(), i);
		if (*fd >= 0) {
			error = new_file_link(*fd, temp) ? errno : 0;
			continue;
		}
		*fd = open(temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		error = *fd < 0 ? errno : 0;
	}
	if (!error) {
		size_t n = strlen(temp);

		memcpy(temp + n + 1, temp, n);
		memcpy(temp + n + 1 + n, JOURNAL, sizeof(JOURNAL));
		if (!new_file_owner)
			atexit(new_file_at_exit);
		new_file_owner = getpid();
		pthread_mutex_lock(&new_file_lock);
		for (size_t i = 0; i < TEMPS_MAX; i++)
			if (!new_file_temps[i]) {
				new_file_temps[i] = temp;
				break;
			}
		pthread_mutex_unlock(&new_file_lock);
		return temp;
	}
	free(temp);
	errno = error;
	return NULL;
}

char *new_file_temp(const char *path, mode_t mode)
{
	int fd = -1;

	new_file_remove_dead(path);
	char *temp = new_file_create(path, mode, &fd);
	if (fd >= 0)
		close(fd);
	return temp;
}

void new_file_drop(char *temp)
{
	if (temp)
		new_file_unlink(temp);
	new_file_forget(temp);
}

static int new_file_refuse(const char *path, int error, struct err *err)
{
	return err_set(err, err_code_of(error), "%s: %s", path,
		       error == EEXIST ? "exists; use -f to replace it"
				       : strerror(error));
}

int new_file_place(char **temp, const char *path, bool replace, struct err *err)
{
	unsigned int how = replace ? 0 : RENAME_NOREPLACE;
	int rc = renameat2(AT_FDCWD, *temp, AT_FDCWD, path, how);
	struct stat st;

	/* the file system does not know the flag: check, then rename */
	if (rc && how && (errno == EINVAL || errno == ENOSYS)) {
		if (!lstat(path, &st))
			return new_file_refuse(path, EEXIST, err);
		rc = rename(*temp, path);
	}
	if (rc)
		return new_file_refuse(path, errno, err);
	new_file_forget(*temp);
	*temp = NULL;
	return new_file_flush_folder(path) ? new_file_refuse(path, errno, err)
					   : 0;
}

struct new_file {
	char *path;  /* with links resolved */
	char *shown; /* for messages */
	char *temp;  /* NULL: the file has no name yet, or is path itself */
	FILE *stream;
	int fd;
	bool replace;
	bool direct; /* path itself is written */
};

/* Opens a temporary file in the folder. Returns 0, or -1 and errno. */
static int new_file_open_temp(struct new_file *nf)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char *folder OWNED = new_file_folder(nf->path);

	new_file_remove_dead(nf->path);
	/* a file without a name gets one through /proc */
	nf->fd = access("/proc/self/fd", X_OK)
			 ? -1
			 : open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
	if (nf->fd >= 0)
		return 0;
	nf->temp = new_file_create(nf->path, 0666, &nf->fd);
	if (nf->temp)
		fcntl(nf->fd, F_OFD_SETLK, &lock);
	return nf->temp ? 0 : -1;
}

/* Checks the path and opens nf->fd. Returns 0, or -1 and *err. */
static int new_file_begin(struct new_file *nf, struct err *err)
{
	struct stat st = { 0 };
	/* the path with links resolved; NULL: the file does not exist */
	char *target = stat(nf->shown, &st) ? NULL : realpath(nf->shown, NULL);

	nf->path = target ? target : mem_strdup(nf->shown);
	if (target && !S_ISREG(st.st_mode))
		return err_set(err, ERR_IO, "%s: is no regular file",
			       nf->shown);
	if (target && !nf->replace)
		return new_file_refuse(nf->shown, EEXIST, err);
	if (target && faccessat(AT_FDCWD, nf->path, W_OK, AT_EACCESS))
		return new_file_refuse(nf->shown, errno, err);
	/* a dangling link: its target is created */
	bool dangling = !target && !lstat(nf->shown, &st);

	if (!dangling && !new_file_open_temp(nf)) {
		if (target && fchown(nf->fd, st.st_uid, st.st_gid))
			st.st_mode &= 0777;
		if (target)
			fchmod(nf->fd, st.st_mode & 07777);
		return 0;
	}
	if (!target && !dangling)
		return new_file_refuse(nf->shown, errno, err);
	nf->direct = true;
	nf->fd = open(nf->shown, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return nf->fd < 0 ? new_file_refuse(nf->shown, errno, err) : 0;
}

struct new_file *new_file_open(const char *path, bool replace, struct err *err)
{
	struct new_file *nf = mem_new(1, sizeof(*nf));

	nf->shown = mem_strdup(path);
	nf->replace = replace;
	nf->fd = -1;
	if (!new_file_begin(nf, err))
		return nf;
	new_file_free(nf);
	return NULL;
}

int new_file_fd(struct new_file *nf)
{
	return nf->fd;
}

FILE *new_file_stream(struct new_file *nf)
{
	if (!nf->stream)
		nf->stream = fdopen(nf->fd, "w");
	return nf->stream;
}

static int new_file_put(struct new_file *nf, struct err *err)
{
	if (!nf->temp && !new_file_link(nf->fd, nf->path))
		return new_file_flush_folder(nf->path)
			       ? new_file_refuse(nf->shown, errno, err)
			       : 0;
	if (!nf->temp && (errno != EEXIST || !nf->replace))
		return new_file_refuse(nf->shown, errno, err);
	if (!nf->temp)
		nf->temp = new_file_create(nf->path, 0, &nf->fd);
	if (!nf->temp)
		return new_file_refuse(nf->shown, errno, err);
	return new_file_place(&nf->temp, nf->path, nf->replace, err);
}

int new_file_finish(struct new_file *nf, struct err *err)
{
	if (nf->stream && (fflush(nf->stream) || ferror(nf->stream)))
		return new_file_refuse(nf->shown, errno ? errno : EIO, err);
	if (new_file_flush(nf->fd))
		return new_file_refuse(nf->shown, errno, err);
	/* NFS reports write errors at each close */
	int last = dup(nf->fd);
	if (last >= 0 && close(last))
		return new_file_refuse(nf->shown, errno, err);
	if (!nf->direct && new_file_put(nf, err))
		return -1;
	nf->direct = false;
	if (nf->stream)
		fclose(nf->stream);
	else
		close(nf->fd);
	nf->stream = NULL;
	nf->fd = -1;
	return 0;
}

void new_file_free(struct new_file *nf)
{
	if (!nf)
		return;
	if (nf->stream)
		fclose(nf->stream);
	else if (nf->fd >= 0)
		close(nf->fd);
	if (nf->direct)
		unlink(nf->path);
	new_file_drop(nf->temp);
	free_all(nf->path, nf->shown, nf);
}

int temp_open(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* Some file systems, such as NFS, lack O_TMPFILE: creates a file with a
	 * name there and removes the name at once. */
	char *name OWNED = mem_printf("%s/backstitch-XXXXXX", dir);

	fd = mkostemp(name, O_CLOEXEC);
	int error = errno;

	if (fd >= 0)
		unlink(name);
	errno = error;
	return fd;
}
