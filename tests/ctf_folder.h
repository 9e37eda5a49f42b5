/* ctf_folder.h - what the programs share that damage CTF traces: a copy of a
 * trace's folder, whose files can be written again and read. */
#pragma once
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "formats/ctf/ctf.h"
#include "tests/damage.h"

struct ctf_part {
	char name[64];
	unsigned char *data;
	size_t len;
};

#define FILES_MAX 16

static struct ctf_part file[FILES_MAX];
static size_t n_file;
static char folder[128];

static inline void ctf_folder_put(const struct ctf_part *f, size_t len)
{
	char path[1500];

	snprintf(path, sizeof(path), "%s/%s", folder, f->name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, f->data, len) != (ssize_t)len) {
		perror(path);
		exit(2);
	}
	close(fd);
}

static inline bool ctf_folder_is_event(void *arg, struct source *src,
				       const struct ref *ref,
				       const struct record *rec)
{
	(void)arg;
	(void)src;
	(void)ref;
	return rec && rec->kind == REC_SAMPLE;
}

static inline struct outcome ctf_folder_read(void)
{
	struct outcome o = { 0 };
	struct ledger *lg = ledger_new();

	damage_read(ctf_ops.open(folder, NULL, lg, &o.err), lg,
		    ctf_folder_is_event, NULL, &o);
	return o;
}

static inline void ctf_folder_take_file(const char *dir, const char *name)
{
	char path[512];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (n_file == FILES_MAX || *name == '.' || stat(path, &st) ||
	    !S_ISREG(st.st_mode) || !st.st_size)
		return;
	struct ctf_part *f = &file[n_file++];

	snprintf(f->name, sizeof(f->name), "%s", name);
	f->data = slurp_slurp(path, &f->len);
	ctf_folder_put(f, f->len);
}

/* The metadata first. */
static inline void ctf_folder_take(char *metadata)
{
	const char *tmp = getenv("TMPDIR");
	char *slash = strrchr(metadata, '/');
	struct dirent **list;

	if (!slash) {
		fprintf(stderr, "needed: TRACE/metadata N SEED\n");
		exit(2);
	}
	*slash = 0;
	snprintf(folder, sizeof(folder), "%.100s/damage-ctf-XXXXXX",
		 tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		exit(2);
	ctf_folder_take_file(metadata, "metadata");
	int n = scandir(metadata, &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (strcmp(list[i]->d_name, "metadata"))
			ctf_folder_take_file(metadata, list[i]->d_name);
		free(list[i]);
	}
	free(list);
}

static inline void ctf_folder_remove(void)
{
	char path[1500];

	for (size_t i = 0; i < n_file; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, file[i].name);
		unlink(path);
		free(file[i].data);
	}
	rmdir(folder);
}
