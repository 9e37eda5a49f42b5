/* tracefs.c - the files of tracefs that tell what is in its rings. */
#include "cli/follow/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "cli/follow/segments.h"
#include "formats/ftrace/cut.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define IDS 65536
#define TEXT_MAX ((size_t)256 << 20)
#define MAGIC 0x74726163 /* TRACEFS_MAGIC */
/* PROC_PID_INIT_INO: the first namespace of processes */
#define FIRST_NAMESPACE "pid:[4026531836]"

struct tracefs {
	char *root; /* the buffer's folder */
	char *top;  /* the top buffer's */
	bool live;
	char **event; /* by id: "SYSTEM/NAME"; NULL: none */
	time_t scanned;
};

/* ---- files */

char *tracefs_text_of(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = NULL;
	size_t cap = 0;
	ssize_t got = 1;

	*len = 0;
	/* files of tracefs have no size */
	while (fd >= 0 && got > 0 && *len < TEXT_MAX) {
		text = mem_grow(text, &cap, *len + 65536, 1);
		got = read(fd, text + *len, cap - *len - 1);
		*len += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && !got) {
		text[*len] = 0;
		return text;
	}
	free(text);
	*len = 0;
	return NULL;
}

static char *tracefs_text_in(const char *dir, const char *name, size_t *len)
{
	char path[SEGMENT_PATH + 512];

	snprintf(path, sizeof(path), "%.4000s/%.500s", dir, name);
	return tracefs_text_of(path, len);
}

char *tracefs_text(const struct tracefs *t, const char *name, size_t *len)
{
	char *text = tracefs_text_in(t->root, name, len);

	return text ? text : tracefs_text_in(t->top, name, len);
}

/* ---- opening and closing */

static bool tracefs_has(const char *dir, const char *name)
{
	char path[SEGMENT_PATH + 512];

	snprintf(path, sizeof(path), "%.4000s/%.500s", dir, name);
	return !access(path, F_OK);
}

/* Returns the folder above, which the caller frees. */
static char *tracefs_above(const char *dir)
{
	const char *slash = strrchr(dir, '/');

	return slash > dir ? mem_dup(dir, (size_t)(slash - dir))
			   : mem_strdup("/");
}

bool tracefs_is_buffer(const char *path)
{
	size_t n = strlen(path);

	while (n && path[n - 1] == '/')
		n--;
	return (tracefs_has(path, "per_cpu") && tracefs_has(path, "events")) ||
	       (n >= 7 && !strncmp(path + n - 7, "per_cpu", 7) &&
		tracefs_has(path, "../events"));
}

static bool tracefs_find_live(const char *root)
{
	char link[64];
	struct statfs fs;
	ssize_t n = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);

	return !statfs(root, &fs) && fs.f_type == MAGIC && n > 0 &&
	       (size_t)n == strlen(FIRST_NAMESPACE) &&
	       !memcmp(link, FIRST_NAMESPACE, (size_t)n);
}

struct tracefs *tracefs_open(const char *path, struct err *err)
{
	char *root = realpath(path, NULL);

	if (!root || strlen(root) > SEGMENT_PATH / 2) {
		err_set(err, ERR_IO, "%s: %s", path,
			strerror(root ? ENAMETOOLONG : errno));
		free(root);
		return NULL;
	}
	struct tracefs *t = mem_new(1, sizeof(*t));

	t->root = root;
	if (!tracefs_has(root, "events")) {
		t->root = tracefs_above(root);
		free(root);
	}
	/* an instance is .../instances/NAME */
	char *instances = tracefs_above(t->root);

	t->top = tracefs_above(instances);
	if (strcmp(instances + strlen(t->top), "/instances") != 0) {
		free(t->top);
		t->top = mem_strdup(t->root);
	}
	free(instances);
	t->live = tracefs_find_live(t->root);
	t->event = mem_new(IDS, sizeof(*t->event));
	return t;
}

static void tracefs_forget_events(struct tracefs *t)
{
	for (size_t i = 0; i < IDS; i++) {
		free(t->event[i]);
		t->event[i] = NULL;
	}
}

void tracefs_close(struct tracefs *t)
{
	if (!t)
		return;
	tracefs_forget_events(t);
	free(t->event);
	free(t->top);
	free(t->root);
	free(t);
}

const char *tracefs_root(const struct tracefs *t)
{
	return t->root;
}

bool tracefs_is_live(const struct tracefs *t)
{
	return t->live;
}

/* ---- events */

/* Returns the id of "SYSTEM/NAME"; -1: it is no event. */
static int32_t tracefs_event_id(const struct tracefs *t, const char *name)
{
	char file[600];
	size_t len;
	int32_t id = -1;

	snprintf(file, sizeof(file), "events/%.520s/id", name);
	char *text = tracefs_text_in(t->root, file, &len);

	if (text) {
		id = (int32_t)strtol(text, NULL, 10);
	} else {
		/* events of ftrace itself have no id of their own */
		snprintf(file, sizeof(file), "events/%.520s/format", name);
		text = tracefs_text_in(t->root, file, &len);
		id = text ? ftrace_cut_id(text, len) : -1;
	}
	free(text);
	return id > 0 && id < IDS ? id : -1;
}

static void tracefs_scan_system(struct tracefs *t, const char *system)
{
	char path[SEGMENT_PATH + 512];
	const struct dirent *e;

	snprintf(path, sizeof(path), "%.4000s/events/%.255s", t->root, system);
	DIR *d = opendir(path);

	while (d && (e = readdir(d)) != NULL) {
		char name[520];

		if (e->d_name[0] == '.' || e->d_type == DT_REG)
			continue;
		snprintf(name, sizeof(name), "%.255s/%.255s", system,
			 e->d_name);
		int32_t id = tracefs_event_id(t, name);

		if (id >= 0 && !t->event[id])
			t->event[id] = mem_strdup(name);
	}
	if (d)
		closedir(d);
}

/* Finds the ids of all events. Events come and go, and ids are used again. */
static void tracefs_scan(struct tracefs *t)
{
	char path[SEGMENT_PATH + 16];
	const struct dirent *e;

	tracefs_forget_events(t);
	snprintf(path, sizeof(path), "%.4000s/events", t->root);
	DIR *d = opendir(path);

	while (d && (e = readdir(d)) != NULL)
		if (e->d_name[0] != '.' && e->d_type != DT_REG)
			tracefs_scan_system(t, e->d_name);
	if (d)
		closedir(d);
}

static char *tracefs_format_now(const struct tracefs *t, uint16_t id,
				size_t *len)
{
	char file[600];

	if (!t->event[id])
		return NULL;
	snprintf(file, sizeof(file), "events/%.520s/format", t->event[id]);
	char *text = tracefs_text_in(t->root, file, len);

	if (text && ftrace_cut_id(text, *len) == id)
		return text;
	free(text);
	return NULL;
}

char *tracefs_format(struct tracefs *t, uint16_t id, const char **name,
		     size_t *len)
{
	char *text = tracefs_format_now(t, id, len);
	time_t now = time(NULL);

	/* one that is not found is not looked for all the time */
	if (!text && now != t->scanned) {
		t->scanned = now;
		tracefs_scan(t);
		text = tracefs_format_now(t, id, len);
	}
	*name = t->event[id];
	return text;
}
