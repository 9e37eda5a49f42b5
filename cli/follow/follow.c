/* follow.c - streams become a folder of finished databases. */
#include "cli/follow/follow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/follow/live.h"
#include "cli/follow/parts.h"
#include "cli/follow/stream.h"
#include "cli/output/say.h"
#include "cli/output/term.h"
#include "cli/process/child.h"
#include "cli/process/signals.h"
#include "formats/ctf/ctf.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/now.h"
#include "stitch/base/owned.h"
#include "stitch/base/table.h"

/* ---- one input that is a folder in which finished files appear.
 *
 * Files of 'perf record --switch-output' have a time at the end of their names
 * once they are finished: perf.data.2026112110203045. LTTng moves a chunk into
 * the folder archives when a rotation is complete. 'trace-cmd listen' writes
 * trace.HOST:PORT.dat, which is finished when the files trace.HOST:PORT.cpuN
 * are gone. All files stay where they are: a segment contains a link. The file
 * .followed in the folder of segments lists the files that are in segments, so
 * that no run reads them again. */

/* Digits of the time after the name of a finished file. */
#define TIME_DIGITS 16
#define ARCHIVES "archives"
#define STATE ".followed"
#define STATE_ASIDE ".followed.tmp"
/* Seconds after which a .dat file of 'trace-cmd listen' has its .cpuN files. */
#define LISTENED_AGE 2

/* A finished file or chunk that a scan found. */
struct watched_item {
	char *path;
	bool taken; /* it is in a segment */
	bool seen;  /* by the current scan */
};

struct watched {
	const struct folder_lock *claim;
	char *root; /* the folder, as an absolute path */
	struct watched_item *item;
	size_t n, cap;
	struct table by_path;
	uint64_t missed; /* files removed before they were linked */
	bool warned;	 /* a message said that the folder cannot be read */
};

static uint64_t watched_hash(const char *path)
{
	return hash_bytes(path, strlen(path), 0);
}

SAME_FUNCTION(watched_same, struct watched, item[id], char,
	      !strcmp(x->path, y));

static struct watched_item *watched_find(struct watched *w, const char *path)
{
	uint32_t at = table_find(&w->by_path, watched_hash(path), watched_same,
				 w, path);

	return at == TABLE_NONE ? NULL : &w->item[at];
}

static struct watched_item *watched_add(struct watched *w, const char *path)
{
	struct watched_item *it = watched_find(w, path);

	if (!it) {
		table_add(&w->by_path, watched_hash(path), (uint32_t)w->n);
		it = mem_add(w->item, w->n, w->cap);
		*it = (struct watched_item){ .path = mem_strdup(path) };
	}
	return it;
}

static int watched_fail(const struct watched *w, const char *name,
			const char *more, struct err *err)
{
	return err_set(err, ERR_IO, "%s/%s: %s%s", folder_lock_dir(w->claim),
		       name, strerror(errno), more);
}

/* Copies the names of files that still exist, and marks them as taken. */
static int watched_copy_state(struct watched *w, FILE *in, struct err *err)
{
	int dir = folder_lock_fd(w->claim);
	char *line OWNED = NULL;
	size_t cap = 0;
	ssize_t n;

	unlinkat(dir, STATE_ASIDE, 0); /* a killed run may have left it */
	int fd = folder_lock_create(w->claim, STATE_ASIDE, err);

	if (fd < 0)
		return -1;
	FILE *out = mem_must(fdopen(fd, "w"));

	while ((n = getline(&line, &cap, in)) > 0) {
		if (line[n - 1] != '\n')
			break;
		line[n - 1] = 0;
		if (access(line, F_OK))
			continue;
		fprintf(out, "%s\n", line);
		watched_add(w, line)->taken = true;
	}
	if (fclose(out) || renameat(dir, STATE_ASIDE, dir, STATE))
		return watched_fail(w, STATE_ASIDE, "", err);
	return 0;
}

/* Reads which files are in segments of earlier runs; -1 and *err on error. */
static int watched_read_state(struct watched *w, struct err *err)
{
	int fd = folder_lock_open_file(w->claim, STATE, O_RDONLY);

	if (fd < 0)
		return errno == ENOENT ? 0 : watched_fail(w, STATE, "", err);
	FILE *in OWNED_FILE = fdopen(fd, "r");

	if (!in) {
		close(fd);
		return watched_fail(w, STATE, "", err);
	}
	return watched_copy_state(w, in, err);
}

static void watched_close(struct watched *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n; i++)
		free(w->item[i].path);
	free_all(w->item, w->root);
	table_release(&w->by_path);
	free(w);
}

/* c: the folder of segments. Returns the open input, or NULL and *err. */
static struct watched *watched_open(const struct folder_lock *c,
				    const char *input, struct err *err)
{
	char *root = realpath(input, NULL);

	if (!root || strlen(root) > SEGMENT_PATH / 2) {
		err_set(err, ERR_IO, "%s: %s", input,
			strerror(root ? ENAMETOOLONG : errno));
		free(root);
		return NULL;
	}
	char pipe[SEGMENT_PATH];

	snprintf(pipe, sizeof(pipe), "%s/trace_pipe", root);
	if (!access(pipe, F_OK)) {
		err_set(err, ERR_USAGE,
			"%s: a buffer of ftrace, and no folder of finished "
			"files; follow %s/trace_pipe",
			input, input);
		free(root);
		return NULL;
	}
	/* an LTTng session has no archives before its first chunk */
	char archives[SEGMENT_PATH];

	snprintf(archives, sizeof(archives), "%s/" ARCHIVES, root);
	if (access(archives, F_OK) && ctf_is_folder(root))
		say("backstitch: %s: waiting for the first chunk of this LTTng "
		    "session: 'lttng rotate' and 'lttng enable-rotation "
		    "--timer 10s' make them\n",
		    input);
	struct watched *w = mem_new(1, sizeof(*w));

	w->claim = c;
	w->root = root;
	if (watched_read_state(w, err)) {
		watched_close(w);
		return NULL;
	}
	return w;
}

/* Returns whether a name is that of a finished file of perf: perf adds the time
 * to the name when it switches to the next file. */
static bool watched_is_switched(const char *name)
{
	size_t n = strlen(name);

	return n > TIME_DIGITS + 1 && name[n - TIME_DIGITS - 1] == '.' &&
	       strspn(name + n - TIME_DIGITS, "0123456789") == TIME_DIGITS;
}

/* Returns whether a name is NAME.HOST:PORT.dat, as 'trace-cmd listen' makes it.
 * The pages of each CPU are in NAME.HOST:PORT.cpuN until the recorder ends, and
 * are then added to the .dat file. */
static bool watched_is_listened(const char *name)
{
	const char *colon = strrchr(name, ':');
	size_t n = colon ? strspn(colon + 1, "0123456789") : 0;

	return n && !strcmp(colon + 1 + n, ".dat");
}

/* Returns whether a file of 'trace-cmd listen' is finished. */
static bool watched_is_done(const char *path, const struct stat *st)
{
	char pages[SEGMENT_PATH * 2];
	int64_t age = (int64_t)time(NULL) - (int64_t)st->st_mtim.tv_sec;

	snprintf(pages, sizeof(pages), "%.*s.cpu0", (int)strlen(path) - 4,
		 path);
	/* the file exists before its pages do; a clock may be set back */
	return access(pages, F_OK) && st->st_size > 0 &&
	       (age >= LISTENED_AGE || age < 0);
}

/* Adds an entry of a folder if it is finished, and marks it as seen. Returns 0,
 * or the error of stat() if a known entry may still exist. */
static int watched_check(struct watched *w, const char *folder,
			 const char *name, bool chunks)
{
	char path[SEGMENT_PATH * 2];
	bool listened = !chunks && watched_is_listened(name);
	struct stat st;

	if (name[0] == '.' || strchr(name, '\n') ||
	    (!chunks && !listened && !watched_is_switched(name)))
		return 0;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (stat(path, &st)) {
		int bad = errno;

		return bad != ENOENT && watched_find(w, path) ? bad : 0;
	}
	if (listened && !watched_find(w, path) && !watched_is_done(path, &st))
		return 0;
	if (S_ISDIR(st.st_mode) == chunks)
		watched_add(w, path)->seen = true;
	return 0;
}

/* Checks all entries of a folder. Returns 0 or an error number. */
static int watched_scan_in(struct watched *w, const char *folder, bool chunks)
{
	const struct dirent *e;
	DIR *d OWNED_DIR = opendir(folder);
	int bad = 0;

	if (!d)
		return errno;
	do {
		errno = 0;
		e = readdir(d);
		bad = e ? watched_check(w, folder, e->d_name, chunks) : errno;
	} while (e && !bad);
	return bad;
}

/* Scans the folder, and the one with chunks of LTTng, which need not exist.
 * Returns 0 or an error number. */
static int watched_scan_all(struct watched *w)
{
	char archives[SEGMENT_PATH];
	int bad = watched_scan_in(w, w->root, false);

	if (bad)
		return bad;
	snprintf(archives, sizeof(archives), "%s/" ARCHIVES, w->root);
	bad = watched_scan_in(w, archives, true);
	return bad == ENOENT || bad == ENOTDIR ? 0 : bad;
}

/* Looks for finished files, and sets *waiting to the number of those in no
 * segment. Returns false if the folder cannot be read now: then nothing may be
 * linked, and the files found before stay known. */
static bool watched_scan(struct watched *w, size_t *waiting)
{
	for (size_t i = 0; i < w->n; i++)
		w->item[i].seen = false;
	int bad = watched_scan_all(w);

	/* a file forgotten by mistake would be read a second time */
	if (!bad) {
		/* Forget removed files, and count those in no segment. */
		size_t n = 0;

		for (size_t i = 0; i < w->n; i++) {
			struct watched_item it = w->item[i];

			if (it.seen) {
				w->item[n++] = it;
				continue;
			}
			w->missed += !it.taken;
			free(it.path);
		}
		if (n != w->n) {
			w->n = n;
			table_release(&w->by_path);
			for (size_t i = 0; i < n; i++)
				table_add(&w->by_path,
					  watched_hash(w->item[i].path),
					  (uint32_t)i);
		}
	} else if (!w->warned)
		say("backstitch: %s: %s; it is looked at again\n", w->root,
		    strerror(bad));
	w->warned = bad;
	*waiting = 0;
	for (size_t i = 0; i < w->n; i++)
		*waiting += !w->item[i].taken;
	return !bad;
}

/* Links the waiting file whose name sorts first as part `index` of a segment.
 * Returns 1 and its bytes, 0 if none waits, -1 and *err. */
static int watched_link(struct watched *w, uint32_t number, unsigned int index,
			uint64_t *bytes, struct err *err)
{
	struct watched_item *it = NULL;

	for (size_t i = 0; i < w->n; i++) {
		struct watched_item *item = &w->item[i];

		if (!item->taken &&
		    (!it || strverscmp(item->path, it->path) < 0))
			it = item;
	}
	char part[SEGMENT_NAME];
	struct stat st;

	if (!it)
		return 0;
	*bytes = stat(it->path, &st) ? 0 : (uint64_t)st.st_size;
	segments_part_name(number, index, part);
	if (symlinkat(it->path, folder_lock_fd(w->claim), part))
		return watched_fail(w, part, "; what is finished stays", err);
	it->taken = true;
	int fd = folder_lock_open_file(w->claim, STATE,
				       O_WRONLY | O_APPEND | O_CREAT);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "a");
	bool bad = !out || fprintf(out, "%s\n", it->path) < 0;

	if (out)
		bad |= fclose(out) != 0;
	else if (fd >= 0)
		close(fd);
	return bad ? watched_fail(w, STATE, "; what is finished stays", err)
		   : 1;
}

/* The process that shows hot functions: --top. */
struct top {
	pid_t pid;	/* 0: it has ended */
	FILE *messages; /* gets standard error; NULL: none */
	int stderr_fd;	/* the real standard error; -1: none */
};

/* Starts 'backstitch view'. Returns NULL and *err if there is no terminal. */
static struct top *top_open(const char *dir, struct err *err)
{
	int tty = open("/dev/tty", O_RDWR | O_CLOEXEC);
	struct top *t;

	if (tty < 0) {
		err_set(err, ERR_USAGE, "--top needs a terminal");
		return NULL;
	}
	t = mem_new(1, sizeof(*t));
	/* messages would appear on its screen, and be overwritten */
	t->messages = tmpfile();
	/* the signal handler replaces pipes below STOP_FD_LOOK by /dev/null */
	t->stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STOP_FD_LOOK);
	if (t->messages && t->stderr_fd >= 0)
		dup2(fileno(t->messages), STDERR_FILENO);
	t->pid = fork();
	if (!t->pid) {
		/* the terminal, wherever descriptors 0 and 1 lead */
		dup2(tty, STDIN_FILENO);
		dup2(tty, STDOUT_FILENO);
		execl("/proc/self/exe", "backstitch", "view", "--live", dir,
		      (char *)NULL);
		_exit(127);
	}
	close(tty);
	if (t->pid < 0)
		t->pid = 0;
	return t;
}

/* Ends the process, and prints the messages. NULL is fine. */
static void top_close(struct top *t)
{
	char buf[4096];
	size_t n;

	if (!t)
		return;
	if (t->pid) {
		kill(t->pid, SIGTERM);
		waitpid(t->pid, NULL, 0);
	}
	if (t->stderr_fd >= 0) {
		dup2(t->stderr_fd, STDERR_FILENO);
		close(t->stderr_fd);
	}
	if (t->messages) {
		rewind(t->messages);
		while ((n = fread(buf, 1, sizeof(buf), t->messages)) > 0)
			fwrite(buf, 1, n, stderr);
		fclose(t->messages);
	}
	free(t);
}

/* Returns whether the process has ended, as when the user quits it. */
static bool top_ended(struct top *t)
{
	if (t->pid && waitpid(t->pid, NULL, WNOHANG) == t->pid)
		t->pid = 0;
	return !t->pid;
}

/* Prints a command's output for the last ten seconds in dir. On a terminal, it
 * replaces the screen and is cut to the rows of the terminal. */
static void print_screen(const char *dir, const char *command)
{
	const char *const argv[] = { "backstitch", command, "--since", "10s",
				     "--limit",	   "10",    dir,       NULL };
	bool terminal = term_is_terminal(stdout);
	int rows = terminal ? term_rows(stdout) : 0;
	FILE *screen OWNED_FILE = tmpfile();
	/* child_run() needs one above 2; ended streams leave low ones free */
	int fd = screen ? fcntl(fileno(screen), F_DUPFD_CLOEXEC, STOP_FD_LOOK)
			: -1;
	char *line OWNED = NULL;
	size_t size = 0;

	if (fd >= 0) {
		child_run("/proc/self/exe", argv, fd, fd);
		rewind(screen);
		fputs(terminal ? term_mark(WHOLE_SCREEN) : "", stdout);
		/* the number of rows may be unknown */
		rows = rows > 1 ? rows : INT_MAX;
		while (--rows > 0 && getline(&line, &size, screen) > 0)
			fputs(line, stdout);
		putchar('\n');
		fflush(stdout);
		close(fd);
	}
}

/* Returns a process that prints a screen when there is a database with a higher
 * number than `shown`, at most one each second, or -1. On SIGTERM it completes
 * its screen and ends. */
static pid_t print_start(const struct folder_lock *claim,
			 const struct follow_opts *o, uint32_t shown)
{
	const struct timespec second = { .tv_sec = 1 };
	const pid_t parent = getpid();
	sigset_t end;
	pid_t pid = fork();

	if (pid)
		return pid;
	signal(SIGINT, SIG_IGN);
	child_end_with(parent, SIGTERM);
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	while (sigtimedwait(&end, NULL, &second) != SIGTERM) {
		uint32_t newest = segments_newest(claim);

		if (newest > shown)
			print_screen(o->dir, o->print);
		shown = newest;
	}
	_exit(0);
}

#define NS 1000000000
#define POLL_MS 200
/* ns of reading after Ctrl-C, at which the recorder still writes its
 * buffers. */
#define GRACE_NS ((int64_t)2 * NS)

struct follow {
	const struct follow_opts *o;
	struct folder_lock *claim;
	struct disk_space room;
	struct segment g;
	struct parts *parts;
	struct stream *stream[FOLLOW_INPUTS];
	struct watched *watched[FOLLOW_INPUTS];
	struct live *live[FOLLOW_INPUTS]; /* each has a watched folder too */
	size_t n_streams, n_watched, n_live;
	unsigned int linked; /* files in segment linked_number */
	uint32_t linked_number;
	size_t waiting;		 /* files in folders that are in no segment */
	int64_t scan_at, end_at; /* by g.now; end_at 0: not known yet */
	struct top *top;	 /* NULL: none */
};

static volatile sig_atomic_t follow_cut_now;

static void follow_on_hangup(int sig UNUSED)
{
	follow_cut_now = 1;
}

/* Links one waiting file into the segment. Returns 1, 0 if there is no file or
 * no room for it, -1 and *err. */
static int follow_link(struct follow *fw, struct watched *w, struct err *err)
{
	uint64_t bytes;
	int64_t lag;

	if (fw->linked_number != fw->g.number) {
		fw->linked = 0;
		fw->linked_number = fw->g.number;
	}
	if (fw->linked + fw->n_streams >= SEGMENT_PARTS ||
	    !disk_space_for_more(&fw->room, 0) ||
	    parts_waiting(fw->parts, &lag) >= PARTS_WAITING)
		return 0;
	int ret = watched_link(w, fw->g.number,
			       (unsigned int)fw->n_streams + fw->linked, &bytes,
			       err);

	if (ret <= 0)
		return ret;
	fw->linked++;
	fw->g.events++;
	fw->g.bytes += bytes;
	/* if a folder is the only input, each file is a segment of its own */
	if (fw->o->n_inputs == 1) {
		segment_next(&fw->g);
		parts_add(fw->parts, fw->g.number);
	}
	return 1;
}

/* Links finished files, each POLL_MS or at once. Returns 0, or -1 and *err. */
static int follow_scan(struct follow *fw, bool at_once, struct err *err)
{
	if (!at_once && fw->g.now < fw->scan_at)
		return 0;
	fw->scan_at = fw->g.now + (int64_t)POLL_MS * NS / 1000;
	fw->waiting = 0;
	for (size_t i = 0; i < fw->n_watched; i++) {
		size_t n;
		bool found = watched_scan(fw->watched[i], &n);
		int ret = 0;

		while (found &&
		       (ret = follow_link(fw, fw->watched[i], err)) > 0)
			n--;
		if (ret < 0)
			return -1;
		fw->waiting += n;
	}
	return 0;
}

static bool follow_has_streams(const struct follow *fw)
{
	bool any = false;

	for (size_t i = 0; i < fw->n_streams; i++)
		any |= stream_fd(fw->stream[i]) >= 0;
	return any;
}

/* Passes complete segments to parts.h, and waits if too many wait there. */
static void follow_hand_over(struct follow *fw)
{
	bool begun = false; /* a stream, which ends the segment itself */

	for (size_t i = 0; i < fw->n_streams; i++)
		begun |= stream_has_begun(fw->stream[i]);
	if (!begun && segment_is_full(&fw->g))
		segment_next(&fw->g);
	uint32_t end = fw->g.number;

	for (size_t i = 0; i < fw->n_streams; i++) {
		uint32_t oldest = stream_oldest(fw->stream[i]);

		end = oldest < end ? oldest : end;
	}
	if (end == fw->g.number && !fw->g.events)
		fw->g.cut_now = false; /* there is nothing to cut */
	parts_add(fw->parts, end);
	if (fw->n_streams)
		parts_hold(fw->parts);
}

/* Returns whether folders may get more files. */
static bool follow_has_folders(const struct follow *fw)
{
	size_t ended = 0;

	for (size_t i = 0; i < fw->n_live; i++)
		ended += live_ended(fw->live[i]);
	return fw->n_watched > ended;
}

/* Returns whether it is time to end. */
static bool follow_is_over(struct follow *fw)
{
	if (stop_input_ends() && !fw->end_at)
		fw->end_at = fw->g.now + GRACE_NS;
	return stop_requested() || (fw->end_at && fw->g.now >= fw->end_at) ||
	       (!follow_has_folders(fw) && !follow_has_streams(fw));
}

/* Ends the segment, as the disk has no space. Returns 0, or -1 and *err. */
static int follow_cut_all(struct follow *fw, struct err *err)
{
	for (size_t i = 0; i < fw->n_streams; i++)
		if (stream_cut_now(fw->stream[i], err))
			return -1;
	follow_hand_over(fw);
	return 0;
}

/* Keeps enough free space to turn what was received into databases: otherwise
 * the raw parts fill the disk, and can neither be read nor removed. Waits for
 * the databases being made, whose parts are then removed, then for that of the
 * segment, which it ends, and then for space. */
static int follow_check_room(struct follow *fw, struct err *err)
{
	int64_t lag;

	for (int i = 0; follow_has_streams(fw) && !follow_is_over(fw); i++) {
		if (!parts_waiting(fw->parts, &lag))
			fw->g.bytes_before = 0;
		fw->g.more =
			disk_space_for_more(&fw->room,
					    fw->g.bytes + fw->g.bytes_before) /
			fw->n_streams;
		if (fw->g.more)
			return 0;
		if (i == 1 && follow_cut_all(fw, err))
			return -1;
		if (i < 2)
			parts_drain(fw->parts);
		else
			disk_space_wait(&fw->room);
		fw->g.now = now_ns();
	}
	return 0;
}

/* Receives until the inputs or the user end it. Returns 0, or -1 and *err. */
static int follow_loop(struct follow *fw, struct err *err)
{
	while (!follow_is_over(fw)) {
		if (follow_check_room(fw, err))
			return -1;
		struct pollfd pf[FOLLOW_INPUTS];
		struct stream *of[FOLLOW_INPUTS];
		nfds_t n = 0;

		for (size_t i = 0; i < fw->n_streams; i++) {
			if (stream_fd(fw->stream[i]) < 0)
				continue;
			pf[n] = (struct pollfd){ .fd = stream_fd(fw->stream[i]),
						 .events = POLLIN };
			of[n++] = fw->stream[i];
		}
		int ready = poll(pf, n, POLL_MS);

		fw->g.now = now_ns();
		for (nfds_t i = 0; ready > 0 && i < n; i++)
			if (pf[i].revents && stream_receive(of[i], false, err))
				return -1;
		for (size_t i = 0; i < fw->n_streams; i++)
			if (stream_idle(fw->stream[i], err))
				return -1;
		if (follow_cut_now) {
			follow_cut_now = 0;
			fw->g.cut_now = true;
		}
		if (fw->n_watched && follow_scan(fw, false, err))
			return -1;
		follow_hand_over(fw);
		if (fw->top && top_ended(fw->top))
			fw->end_at = fw->g.now;
	}
	return 0;
}

/* Ends all inputs. If ret is -1, *err stays, whatever fails here. */
static int follow_end(struct follow *fw, int ret, struct err *err)
{
	struct err late;

	for (size_t i = 0; i < fw->n_live; i++)
		live_stop(fw->live[i]);
	for (size_t i = 0; i < fw->n_streams; i++)
		if (stream_fd(fw->stream[i]) >= 0 &&
		    stream_receive(fw->stream[i], true, ret ? &late : err))
			ret = -1;
	if (fw->n_watched && follow_scan(fw, true, ret ? &late : err))
		ret = -1;
	if (fw->g.events)
		segment_next(&fw->g);
	parts_add(fw->parts, fw->g.number);
	return ret;
}

/* Opens all inputs. Returns 0, or -1 and *err; the caller closes them. */
static int follow_open(struct follow *fw, struct err *err)
{
	for (size_t i = 0; i < fw->o->n_inputs; i++) {
		const char *input = fw->o->input[i];
		struct stat st;

		if (live_is_url(input)) {
			struct live *l = live_open(fw->claim, input,
						   &fw->o->segment, err);

			if (!l)
				return -1;
			fw->live[fw->n_live++] = l;
			input = live_folder(l);
		}
		if (!stat(input, &st) && S_ISDIR(st.st_mode)) {
			struct watched *w = watched_open(fw->claim, input, err);

			if (!w)
				return -1;
			fw->watched[fw->n_watched++] = w;
			continue;
		}
		struct stream *s = stream_open(
			&fw->g, input, (unsigned int)fw->n_streams, err);

		if (!s)
			return -1;
		fw->stream[fw->n_streams++] = s;
	}
	return 0;
}

/* Prints what is missing in the databases. Returns whether input was lost. */
static bool follow_tell_missing(const struct follow *fw)
{
	uint64_t missed = 0;
	uint64_t dropped = 0;
	bool damaged = false;

	for (size_t i = 0; i < fw->n_watched; i++)
		missed += fw->watched[i]->missed;
	for (size_t i = 0; i < fw->n_streams; i++) {
		dropped += stream_dropped(fw->stream[i]);
		damaged |= stream_damaged(fw->stream[i]);
	}
	for (size_t i = 0; i < fw->n_live; i++)
		damaged |= live_damaged(fw->live[i]);
	if (missed)
		say("backstitch: %" PRIu64 " files were removed from the "
		    "folder before they were read\n",
		    missed);
	if (fw->waiting)
		say("backstitch: %zu files wait in the folder; the next "
		    "run reads them\n",
		    fw->waiting);
	if (dropped)
		say("backstitch: %" PRIu64 " mappings or kernel objects "
		    "were too many to be kept: later segments lack them\n",
		    dropped);
	return missed || dropped || damaged;
}

static void follow_leave(void *arg)
{
	struct follow *fw = arg;

	for (size_t i = 0; i < fw->n_streams; i++)
		stream_leave(fw->stream[i]);
}

static bool follow_is_asked_to_end(void)
{
	return stop_requested() || stop_input_ends();
}

int follow_stream(const struct follow_opts *o, bool *damaged, struct err *err)
{
	const struct sigaction sa = { .sa_handler = follow_on_hangup };
	struct follow fw = { .o = o };
	struct parts_opts po = {
		.load = o->load,
		.keep = o->keep,
		.command = o->command,
		.quiet = o->quiet,
		.each = !o->quiet && !o->top && term_is_terminal(stderr),
		.leave = follow_leave,
		.leave_arg = &fw,
		.stop = follow_is_asked_to_end,
	};
	struct segments_left left;
	uint32_t last;
	pid_t printer = 0;
	int rc = -1;

	fw.claim = folder_lock_open(o->dir, err);
	if (!fw.claim || segments_scan(fw.claim, &last, &left, err)) {
		folder_lock_close(fw.claim, true);
		return -1;
	}
	fw.g = (struct segment){ .claim = fw.claim,
				 .room = &fw.room,
				 .limit = o->segment,
				 .number = last + 1,
				 .now = now_ns() };
	fw.g.since = fw.g.now;
	po.claim = fw.claim;
	po.room = &fw.room;
	fw.parts = parts_new(&po, &left, last + 1);
	fw.room = (struct disk_space){ .claim = fw.claim,
				       .wait = parts_wait_room,
				       .arg = fw.parts };
	if (follow_open(&fw, err) ||
	    (o->top && !(fw.top = top_open(o->dir, err))))
		goto out;
	if (o->print)
		printer = print_start(fw.claim, o, last);
	sigaction(SIGHUP, &sa, NULL);
	/* if the parent ignored it, children would have no exit status */
	signal(SIGCHLD, SIG_DFL);
	signals_live(true);
	parts_reap(fw.parts);
	rc = follow_end(&fw, follow_loop(&fw, err), err);
	signals_live(false);
	top_close(fw.top);
	fw.top = NULL;
	struct err late;

	if (parts_wait(fw.parts, rc ? &late : err))
		rc = -1;
	if (printer > 0) {
		kill(printer, SIGTERM);
		child_wait(printer);
		print_screen(o->dir, o->print);
	}
	segments_sweep(fw.claim);
	*damaged = follow_tell_missing(&fw) || parts_damaged(fw.parts);
	if (!o->quiet && (!rc || fw.g.number > last + 1))
		parts_tell(fw.parts);
out:
	for (size_t i = 0; i < fw.n_streams; i++)
		stream_free(fw.stream[i]);
	for (size_t i = 0; i < fw.n_live; i++)
		live_close(fw.live[i]);
	for (size_t i = 0; i < fw.n_watched; i++)
		watched_close(fw.watched[i]);
	parts_free(fw.parts);
	top_close(fw.top);
	folder_lock_close(fw.claim, rc);
	return rc;
}
