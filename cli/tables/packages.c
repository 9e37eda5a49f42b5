/* packages.c - finds the package of a file in dpkg's lists or rpm's
 * database. */
#include "cli/tables/packages.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "schema/read/rpm.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/files/named_file.h"
#include "stitch/base/table.h"

#define LISTS "/var/lib/dpkg/info"

struct wanted {
	const char *path; /* as packages_key() returns it */
	const char *owner;
};

struct packages {
	char *root;
	struct arena text;
	struct wanted *item;
	size_t n, cap;
	struct table by_path;
};

/* Returns the path without a leading /usr, since lists and mappings may name a
 * file of a merged /usr in either form. */
static const char *packages_key(const char *path)
{
	return strncmp(path, "/usr/", 5) ? path : path + 4;
}

static bool packages_same_path(const void *owner, uint32_t id, const void *key)
{
	return !strcmp(((const struct packages *)owner)->item[id].path, key);
}

static uint32_t packages_find(const struct packages *p, const char *path)
{
	const char *key = packages_key(path);

	return table_find(&p->by_path, hash_bytes(key, strlen(key), 0),
			  packages_same_path, p, key);
}

struct packages *packages_new(const char *root)
{
	struct packages *p = mem_new(1, sizeof(*p));

	p->root = mem_strdup(root ? root : "");
	return p;
}

void packages_free(struct packages *p)
{
	if (!p)
		return;
	table_release(&p->by_path);
	arena_release(&p->text);
	free(p->item);
	free(p->root);
	free(p);
}

void packages_want(struct packages *p, const char *path)
{
	const char *key = packages_key(path);

	if (packages_find(p, path) != TABLE_NONE)
		return;
	table_add(&p->by_path, hash_bytes(key, strlen(key), 0), (uint32_t)p->n);
	*mem_add(p->item, p->n, p->cap) =
		(struct wanted){ arena_strdup(&p->text, key), NULL };
}

/* Reads a file if it is a list such as "libc6:amd64.list"; the package name
 * ends at the colon. */
static void read_list(struct packages *p, const char *file)
{
	const char *end = strrchr(file, '.');
	char path[4096];
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	uint64_t size;
	struct err err;
	FILE *f;
	int fd;

	if (!end || strcmp(end, ".list") != 0 ||
	    snprintf(path, sizeof(path), "%s%s/%s", p->root, LISTS, file) >=
		    (int)sizeof(path))
		return;
	fd = named_file_open(path, &size, &err);
	if (fd < 0)
		return;
	f = mem_must(fdopen(fd, "r"));
	while ((len = getline(&line, &cap, f)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		uint32_t id = packages_find(p, line);

		if (id == TABLE_NONE || p->item[id].owner)
			continue;
		char *owner = arena_strdup(&p->text, file);

		owner[strcspn(owner, ":")] = '\0';
		if (!strchr(file, ':'))
			owner[strlen(owner) - strlen(".list")] = '\0';
		p->item[id].owner = owner;
	}
	free(line);
	fclose(f);
}

/* Asks rpm for both forms of a path: with a merged /usr it has the longer form
 * of some. */
static const char *owner_by_rpm(struct rpm *r, const char *key)
{
	char path[4096];
	const char *owner = rpm_owner(r, key);

	if (owner ||
	    snprintf(path, sizeof(path), "/usr%s", key) >= (int)sizeof(path))
		return owner;
	return rpm_owner(r, path);
}

static void read_rpm(struct packages *p)
{
	/* its place since Fedora 36, and the older one */
	static const char *const place[] = {
		"/usr/lib/sysimage/rpm/rpmdb.sqlite",
		"/var/lib/rpm/rpmdb.sqlite",
	};
	struct rpm *r = NULL;
	char path[4096];
	struct stat st;

	if (!p->n)
		return;
	/* SQLite would wait for whoever writes to a FIFO */
	for (size_t i = 0; !r && i < ARRAY_SIZE(place); i++)
		if (snprintf(path, sizeof(path), "%s%s", p->root, place[i]) <
			    (int)sizeof(path) &&
		    !stat(path, &st) && S_ISREG(st.st_mode))
			r = rpm_open(path);
	for (size_t i = 0; r && i < p->n; i++) {
		struct wanted *w = &p->item[i];
		const char *owner = w->owner ? NULL : owner_by_rpm(r, w->path);

		if (owner)
			w->owner = arena_strdup(&p->text, owner);
	}
	rpm_close(r);
}

static void read_dpkg(struct packages *p)
{
	char path[4096];
	struct dirent *e;
	DIR *d;

	if (!p->n || snprintf(path, sizeof(path), "%s%s", p->root, LISTS) >=
			     (int)sizeof(path))
		return;
	d = opendir(path);
	if (!d)
		return;
	while ((e = readdir(d)))
		read_list(p, e->d_name);
	closedir(d);
}

void packages_read(struct packages *p)
{
	read_dpkg(p);
	read_rpm(p);
}

const char *packages_of(const struct packages *p, const char *path)
{
	uint32_t id = packages_find(p, path);

	return id == TABLE_NONE ? NULL : p->item[id].owner;
}
