/* ctf.c - cuts and flips the files of a CTF trace, and reads each of them.
 *
 * usage: damage-ctf METADATA N SEED. The trace is the folder of METADATA; N
 * seeded cuts of its largest stream file, N flips there, and N flips and cuts
 * of the metadata, all read in this process (run it under sanitizers). Of a
 * cut stream every event of a whole packet in front must be there, those of
 * the other streams too, and the cut must be in the ledger; of anything else
 * only an end is asked for: an error with a message, or all records. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "formats/ctf/ctf.h"
#include "tests/damage.h"

struct file {
	char name[64];
	unsigned char *data;
	size_t len;
};

#define FILES_MAX 16
#define PAGE 4096

static struct file file[FILES_MAX];
static size_t n_file;
static char folder[128];

static void damage_ctf_put(const struct file *f, size_t len)
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

static bool damage_ctf_seen(void *arg, struct source *src,
			    const struct ref *ref, const struct record *rec)
{
	(void)arg;
	(void)src;
	(void)ref;
	return rec && rec->kind == REC_SAMPLE;
}

static struct outcome read_trace(void)
{
	struct outcome o = { 0 };
	struct ledger *lg = ledger_new();

	damage_read(ctf_ops.open(folder, NULL, lg, &o.err), lg, damage_ctf_seen,
		    NULL, &o);
	return o;
}

/* Events of the trace when this file ends with its packet k. */
struct learnt {
	uint64_t *events, *end;
	size_t n;
};

/* Recorders write whole pages, so that packets end at their ends: where a cut
 * is no damage. */
static void learn(const struct file *f, struct learnt *t)
{
	t->events = mem_new(f->len / PAGE + 2, sizeof(*t->events));
	t->end = mem_new(f->len / PAGE + 2, sizeof(*t->end));
	for (uint64_t off = 0; off <= f->len; off += PAGE) {
		damage_ctf_put(f, off);
		struct outcome o = read_trace();

		if (o.damage)
			continue;
		t->end[t->n] = off;
		t->events[t->n++] = o.n;
	}
	damage_ctf_put(f, f->len);
}

/* A cut packet is read as far as it is there. */
static int damage_ctf_try_cut(const struct file *f, uint64_t at,
			      const struct learnt *t)
{
	size_t k = t->n - 1;

	damage_ctf_put(f, at);
	struct outcome o = read_trace();

	damage_ctf_put(f, f->len);
	while (t->end[k] > at)
		k--;
	if (!o.opened || o.failed)
		return damage_complain("cut was refused", at, &o);
	if (t->end[k] != at && !o.damage)
		return damage_complain("cut is not in the ledger", at, &o);
	if (o.n < t->events[k])
		return damage_complain("cut loses whole packets", at, &o);
	if (k + 1 < t->n && o.n > t->events[k + 1])
		return damage_complain("cut makes events", at, &o);
	return 0;
}

static int damage_ctf_try_flip(struct file *f)
{
	struct flips fl;

	damage_flip(&fl, f->data, f->len, 0);
	damage_ctf_put(f, f->len);
	struct outcome o = read_trace();

	damage_flip_back(&fl, f->data);
	damage_ctf_put(f, f->len);
	return damage_is_silent(&o)
		       ? damage_complain("flip without a message", fl.at[0], &o)
		       : 0;
}

static int try_meta_cut(const struct file *f)
{
	uint64_t at = random_below(f->len);

	damage_ctf_put(f, at);
	struct outcome o = read_trace();

	damage_ctf_put(f, f->len);
	if (damage_is_silent(&o))
		return damage_complain("cut metadata without a message", at,
				       &o);
	return 0;
}

static void damage_ctf_take_file(const char *dir, const char *name)
{
	char path[512];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (n_file == FILES_MAX || *name == '.' || stat(path, &st) ||
	    !S_ISREG(st.st_mode) || !st.st_size)
		return;
	struct file *f = &file[n_file++];

	snprintf(f->name, sizeof(f->name), "%s", name);
	f->data = slurp_slurp(path, &f->len);
	damage_ctf_put(f, f->len);
}

/* The metadata first. */
static void take_trace(char *metadata)
{
	const char *tmp = getenv("TMPDIR");
	char *slash = strrchr(metadata, '/');
	struct dirent **list;

	if (!slash) {
		fprintf(stderr, "usage: damage-ctf TRACE/metadata N SEED\n");
		exit(2);
	}
	*slash = 0;
	snprintf(folder, sizeof(folder), "%.100s/damage-ctf-XXXXXX",
		 tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		exit(2);
	damage_ctf_take_file(metadata, "metadata");
	int n = scandir(metadata, &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (strcmp(list[i]->d_name, "metadata"))
			damage_ctf_take_file(metadata, list[i]->d_name);
		free(list[i]);
	}
	free(list);
}

static void remove_trace(void)
{
	char path[1500];

	for (size_t i = 0; i < n_file; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, file[i].name);
		unlink(path);
		free(file[i].data);
	}
	rmdir(folder);
}

int main(int argc, char **argv)
{
	struct learnt t = { 0 };
	struct file *big = &file[1];
	int bad = 0;
	uint64_t tries = damage_start(argc, argv, "damage-ctf TRACE/metadata");

	take_trace(argv[1]);
	for (size_t i = 2; i < n_file; i++)
		if (file[i].len > big->len)
			big = &file[i];
	learn(big, &t);
	if (!t.n || !t.events[t.n - 1]) {
		fprintf(stderr, "%s: no events\n", argv[1]);
		return 1;
	}
	for (uint64_t i = 0; i < tries; i++)
		bad += damage_ctf_try_cut(big, random_below(big->len), &t);
	for (uint64_t i = 0; i < tries; i++)
		bad += damage_ctf_try_flip(big);
	for (uint64_t i = 0; i < tries; i++)
		bad += damage_ctf_try_flip(&file[0]) + try_meta_cut(&file[0]);
	uint64_t events = t.events[t.n - 1];

	free(t.events);
	free(t.end);
	remove_trace();
	return damage_done(argv[1], "events", events, 2 * tries, bad);
}
