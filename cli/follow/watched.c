/* watched.c - one input that is a folder in which finished files appear. */
#include "cli/follow/watched.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/follow/folder_lock.h"
#include "cli/follow/segments.h"
#include "cli/output/say.h"
#include "formats/ctf/ctf.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/base/owned.h"

/* Digits of the time after the name of a finished file. */
#define TIME_DIGITS 16
#define ARCHIVES "archives"
#define STATE ".followed"
#define STATE_ASIDE ".followed.tmp"
/* Seconds after which what 'trace-cmd listen' began has files for its pages. */
#define LISTENED_AGE 2

/* A name that was seen. */
struct watched_item {
	char *path;
	bool taken; /* it is in a segment */
	bool seen;  /* by the scan that runs */
};

struct watched {
	const struct folder_lock *claim;
	char *root; /* the folder, as an absolute path */
	struct watched_item *item;
	size_t n, cap;
	struct table by_path;
	uint64_t missed;
	bool told; /* that the folder cannot be read */
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

/* Keeps the names of files that are still there. */
static int watched_copy_state(struct watched *w, FILE *in, struct err *err)
{
	int dir = folder_lock_fd(w->claim);
	char *line OWNED = NULL;
	size_t cap = 0;
	ssize_t n;

	unlinkat(dir, STATE_ASIDE, 0); /* of a run that was killed */
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

struct watched *watched_open(const struct folder_lock *c, const char *input,
			     struct err *err)
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
	/* Say what is waited for in the folder of an LTTng session without
	 * chunks. */
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

void watched_close(struct watched *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n; i++)
		free(w->item[i].path);
	free_all(w->item, w->root);
	table_release(&w->by_path);
	free(w);
}

/* perf writes to the name that it was given, and adds the time to it when it
 * switches to the next file. */
static bool watched_is_switched(const char *name)
{
	size_t n = strlen(name);

	return n > TIME_DIGITS + 1 && name[n - TIME_DIGITS - 1] == '.' &&
	       strspn(name + n - TIME_DIGITS, "0123456789") == TIME_DIGITS;
}

/* 'trace-cmd listen' writes NAME.HOST:PORT.dat. The pages of each CPU are in
 * NAME.HOST:PORT.cpuN until the recorder has ended, and are then added to it.
 */
static bool watched_is_listened(const char *name)
{
	const char *colon = strrchr(name, ':');
	size_t n = colon ? strspn(colon + 1, "0123456789") : 0;

	return n && !strcmp(colon + 1 + n, ".dat");
}

static bool watched_is_done(const char *path, const struct stat *st)
{
	char pages[SEGMENT_PATH * 2];
	int64_t age = (int64_t)time(NULL) - (int64_t)st->st_mtim.tv_sec;

	snprintf(pages, sizeof(pages), "%.*s.cpu0", (int)strlen(path) - 4,
		 path);
	/* it is there before the pages are; a clock may be set back */
	return access(pages, F_OK) && st->st_size > 0 &&
	       (age >= LISTENED_AGE || age < 0);
}

/* Looks at one entry of a folder. Returns 0, or an error number if it is known
 * and may be there. */
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

/* Looks at all entries of a folder. Returns 0 or an error number. */
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

/* Looks at the folder, and at the one with the chunks of LTTng, which need not
 * be there. Returns 0 or an error number. */
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

bool watched_scan(struct watched *w, size_t *waiting)
{
	for (size_t i = 0; i < w->n; i++)
		w->item[i].seen = false;
	int bad = watched_scan_all(w);

	/* what is forgotten would be read a second time when it is back */
	if (!bad) {
		/* Forgets what is no longer there, and counts what waited. */
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
	} else if (!w->told)
		say("backstitch: %s: %s; it is looked at again\n", w->root,
		    strerror(bad));
	w->told = bad;
	*waiting = 0;
	for (size_t i = 0; i < w->n; i++)
		*waiting += !w->item[i].taken;
	return !bad;
}

int watched_link(struct watched *w, uint32_t number, unsigned int index,
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

uint64_t watched_missed(const struct watched *w)
{
	return w->missed;
}
