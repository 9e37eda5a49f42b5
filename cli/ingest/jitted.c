/* jitted.c - finds the files with the names of jitted code.
 *
 * A jitdump file is preferred to a map, because it has times. Of each kind, a
 * file that the user names comes first, then one next to the capture, then the
 * path where the process wrote it: below the folder that --symfs names, or here
 * if the capture was made on this machine. Anybody may have written a file of
 * that name in /tmp, or an older process with the same pid: it is used only if
 * it belongs to root, to the user, or to the capture's owner, and, as a map
 * does not identify its process, if it was written to during the capture. */
#include "cli/ingest/jitted.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/code/jitdump.h"
#include "formats/code/maps.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"
#include "stitch/record.h"
#include "stitch/source.h"
#include "stitch/base/table.h"
#include "stitch/stitch.h"
#include "stitch/tasks/frame.h"
#include "stitch/tasks/late_maps.h"
#include "symbolize/files/identity.h"
#include "symbolize/files/mapping_offsets.h"

#define PATH_SIZE 4096
/* At most this many groups of mappings are proved by reading their file. */
#define PROOFS_MAX 20000
/* Most adjacent mappings of a file, one for each segment. */
#define GROUP_MAX 64

/* Of several lists of one process, the one with the smallest rank is used. */
enum rank {
	RANK_OPTION,
	RANK_BESIDE,
	RANK_PROVED,
};

struct mapped {
	struct ledger *ledger;
	struct maps *given;
	struct maps **beside; /* of captures' folders 'maps' */
	size_t n, cap;
	struct rec_map **copy; /* copies of captures' own lists */
	size_t n_copy, cap_copy;
	size_t proofs;
	bool hints; /* no --maps was given: advise it */
};

struct mapped *mapped_new(const char *const *given, size_t n, struct ledger *lg,
			  struct err *err)
{
	struct mapped *md = mem_new(1, sizeof(*md));

	md->ledger = lg;
	md->given = maps_new();
	md->hints = !n;
	for (size_t i = 0; i < n; i++)
		if (maps_option(md->given, given[i], lg, 0, err)) {
			mapped_free(md);
			return NULL;
		}
	return md;
}

void mapped_free(struct mapped *md)
{
	if (!md)
		return;
	maps_free(md->given);
	for (size_t i = 0; i < md->n; i++)
		maps_free(md->beside[i]);
	free(md->beside);
	for (size_t i = 0; i < md->n_copy; i++)
		free(md->copy[i]);
	free_all(md->copy, md);
}

/* Notes that --maps could be used: a folder next to a file is not used by
 * itself, as it may be of a capture in which the pids are other processes. */
static void mapped_print_hint(struct mapped *md, const struct source *src)
{
	const char *slash = strrchr(src->path, '/');
	char dir[PATH_SIZE], text[2 * PATH_SIZE + 128];
	int n = slash ? (int)(slash - src->path) + 1 : 0;

	if (!md->hints || !strcmp(src->path, "-") ||
	    path_is_folder(src->path) ||
	    (size_t)snprintf(dir, sizeof(dir), "%.*smaps", n, src->path) >=
		    sizeof(dir) ||
	    !maps_in_folder(dir))
		return;
	snprintf(text, sizeof(text),
		 "folder %s next to it is not read, as it may be of another "
		 "run; if it is not: --maps %s",
		 dir, dir);
	ledger_note(md->ledger, src->index, "maps", text);
}

static void mapped_report(struct maps *m, struct stitch *st, uint16_t source,
			  enum rank rank)
{
	size_t n;
	const struct snapshot *s = maps_list(m, &n);

	for (size_t i = 0; i < n; i++)
		stitch_maps(st, source, &s[i], rank);
}

/* Proves offsets that a capture's own list may lack: the mappings of a file are
 * no longer `derived` if it exists and its headers agree with them. */
static void mapped_prove_offsets(struct mapped *md, struct stitch *st,
				 uint16_t source, const struct symbolizer *sy,
				 const struct snapshot *s)
{
	struct snapshot mine = *s;

	if (!s->n)
		return;
	struct rec_map *map = mem_new(s->n, sizeof(*map));

	memcpy(map, s->map, s->n * sizeof(*map));
	mine.map = map;
	*mem_add(md->copy, md->n_copy, md->cap_copy) = map;
	bool *seen OWNED = mem_new(s->n, sizeof(*seen));

	for (size_t i = 0; i < s->n; i++) {
		const struct image img = { .kind = IMAGE_FILE,
					   .path = map[i].path };
		struct mapping_offset group[GROUP_MAX];
		size_t at[GROUP_MAX];
		size_t n = 0;

		if (!map[i].derived || seen[i])
			continue;
		for (size_t k = i; k < s->n && k - i < GROUP_MAX; k++) {
			if (!map[k].derived ||
			    strcmp(map[k].path, img.path) != 0)
				continue;
			seen[k] = true;
			at[n] = k;
			group[n++] = (struct mapping_offset){
				map[k].start, map[k].start + map[k].len, 0
			};
		}
		if (md->proofs++ >= PROOFS_MAX ||
		    !mapping_offsets_prove(sy, &img, group, n))
			continue;
		for (size_t k = 0; k < n; k++) {
			map[at[k]].pgoff = group[k].pgoff;
			map[at[k]].derived = false;
		}
	}
	stitch_maps(st, source, &mine, RANK_PROVED);
}

/* Reads "maps" of a capture that is a folder. Returns 0, or -1 and *err. */
static int add_adjacent(struct mapped *md, struct stitch *st,
			const struct source *src, struct err *err)
{
	char dir[PATH_SIZE], text[PATH_SIZE + 64];

	if (!strcmp(src->path, "-") || !path_is_folder(src->path))
		return 0;
	snprintf(dir, sizeof(dir), "%s/maps", src->path);
	if (!path_is_folder(dir))
		return 0;

	struct maps *m = maps_new();

	*mem_add(md->beside, md->n, md->cap) = m;
	int n = maps_folder(m, dir, md->ledger, src->index, err);

	if (n < 0)
		return -1;
	snprintf(text, sizeof(text), "mappings from %s: %d file%s", dir, n,
		 n == 1 ? "" : "s");
	if (n)
		ledger_note(md->ledger, src->index, "maps", text);
	mapped_report(m, st, src->index, RANK_BESIDE);
	return 0;
}

int mapped_add(struct mapped *md, struct stitch *st, const struct source *src,
	       const struct symbolizer *sy, struct err *err)
{
	mapped_report(md->given, st, src->index, RANK_OPTION);
	if (add_adjacent(md, st, src, err))
		return -1;
	/* only captures of perf have mappings */
	if (src->info.cookies != COOKIES_PERF)
		mapped_print_hint(md, src);
	for (size_t i = 0; sy && i < src->info.n_maps; i++)
		mapped_prove_offsets(md, st, src->index, sy,
				     &src->info.maps[i]);
	return 0;
}

#define PID_MAX (1 << 22)
#define SOURCE_TEMP UINT32_MAX
/* Entries of a folder that are listed for each process that is looked for. That
 * takes as long as to look for one file by name, so that one process among
 * 100,000 files costs no more than among a few. */
#define LIST_EACH 64
/* perf ends a little later than the recorded process, and times of files are
 * rounded to ticks. */
#define MTIME_SLACK_NS 10000000000ll

/* A file that the user names, and its process. */
struct virtual_file {
	const char *path;
	int32_t pid;
};

/* The file with the code of a process of a source. */
struct process_code {
	uint16_t source;
	int32_t pid, inner; /* inner: pid in its own namespace */
	struct jitdump *dump;
	struct perfmap *map;
	struct jit *jit;
};

/* A folder with files: next to a capture, or where processes write them. */
struct capture_db_files {
	char *dir;   /* NULL: there is none */
	bool known;  /* dir was looked for */
	bool listed; /* the processes of all files are in jitted.listed */
	size_t asked, looked; /* processes; entries of the list */
};

struct jitted {
	const struct jitted_ask *ask;
	struct ledger *ledger;
	const char *temp_dir;
	struct virtual_file *dump, *map;
	size_t n_dump, n_map;
	struct process_code *found;
	size_t n, cap;
	struct table by_pid;
	struct capture_db_files *beside; /* by source */
	struct capture_db_files temp;	 /* of SOURCE_TEMP: /tmp */
	size_t n_beside, cap_beside;
	/* Source and process of the files in these folders: of thousands of
	 * processes that come and go hardly one has a file, and to look for
	 * each file took 8 system calls. */
	struct table listed;
};

/* Parses "PREFIX123SUFFIX", possibly followed by more, such as ".gz". */
static bool pid_in_name(const char *path, const char *prefix,
			const char *suffix, int32_t *pid)
{
	const char *s = path_base(path);
	size_t n = strlen(prefix);
	char *end;

	if (strncmp(s, prefix, n) != 0 || s[n] < '0' || s[n] > '9')
		return false;
	long v = strtol(s + n, &end, 10);

	*pid = (int32_t)v;
	return v <= PID_MAX && !strncmp(end, suffix, strlen(suffix));
}

/* Parses "PID=FILE": moves *path after the '='. */
static bool pid_in_front(const char **path, int32_t *pid)
{
	char *end;
	long v = strtol(*path, &end, 10);

	if (end == *path || **path < '0' || **path > '9' || *end != '=' ||
	    v > PID_MAX)
		return false;
	*pid = (int32_t)v;
	*path = end + 1;
	return true;
}

/* Takes a dump that the user names, for its process. Returns 0, or -1. */
static int take_dump(struct jitted *jd, const char *word, struct err *err)
{
	struct virtual_file *f = &jd->dump[jd->n_dump++];
	struct jitdump *d;
	bool said;

	f->path = word;
	said = pid_in_front(&f->path, &f->pid);
	d = jitdump_open(f->path, false, jd->temp_dir, err);
	if (!d)
		return -1;
	if (!said)
		f->pid = jitdump_pid(d);
	jitdump_close(d);
	return 0;
}

/* Takes a map, or a folder of maps, that the user names. Returns 0, or -1. */
static int take_map(struct jitted *jd, const char *word, struct err *err)
{
	struct virtual_file *f = &jd->map[jd->n_map++];
	struct stat st;

	f->path = word;
	f->pid = -1; /* a folder */
	if (!stat(word, &st) && S_ISDIR(st.st_mode))
		return 0;
	if (!pid_in_front(&f->path, &f->pid) &&
	    !pid_in_name(f->path, "perf-", ".map", &f->pid))
		return err_set(err, ERR_USAGE,
			       "--perf-map %s: its name does not say the "
			       "process; give PID=%s",
			       word, word);
	if (access(f->path, R_OK))
		return err_set(err, ERR_IO,
			       "--perf-map %s: cannot read it "
			       "(%m)",
			       f->path);
	return 0;
}

struct jitted *jitted_new(const struct jitted_ask *ask, struct ledger *lg,
			  const char *temp_dir, struct err *err)
{
	struct jitted *jd = mem_new(1, sizeof(*jd));
	int rc = 0;

	jd->ask = ask;
	jd->ledger = lg;
	jd->temp_dir = temp_dir;
	jd->temp.dir = mem_strdup("/tmp");
	jd->dump = mem_new(ask->n_dump + 1, sizeof(*jd->dump));
	jd->map = mem_new(ask->n_map + 1, sizeof(*jd->map));
	for (size_t i = 0; !rc && i < ask->n_dump; i++)
		rc = take_dump(jd, ask->dump[i], err);
	for (size_t i = 0; !rc && i < ask->n_map; i++)
		rc = take_map(jd, ask->map[i], err);
	if (!rc)
		return jd;
	jitted_free(jd);
	return NULL;
}

void jitted_free(struct jitted *jd)
{
	if (!jd)
		return;
	for (size_t i = 0; i < jd->n; i++) {
		jitdump_close(jd->found[i].dump);
		perfmap_close(jd->found[i].map);
	}
	free(jd->found);
	table_release(&jd->by_pid);
	for (size_t i = 0; i < jd->n_beside; i++)
		free(jd->beside[i].dir);
	free(jd->beside);
	table_release(&jd->listed);
	free_all(jd->temp.dir, jd->dump, jd->map, jd);
}

static void jitted_note(struct jitted *jd, const struct source *src,
			const char *text)
{
	ledger_note(jd->ledger, src->index, "jit", text);
}

/* Notes how much code of a process was found, and in which file. */
static void note_found(struct jitted *jd, const struct source *src,
		       const struct process_code *f, const char *path)
{
	char text[PATH_SIZE + 256];
	bool late =
		f->dump && jit_first(f->jit) == TIME_NONE && jit_count(f->jit);

	snprintf(text, sizeof(text),
		 "%zu pieces of code of process %" PRId32 " from %s%s",
		 jit_count(f->jit), f->pid, path,
		 late ? "; its times are of another clock than the capture's: "
			"record with 'perf record -k mono'"
		      : "");
	jitted_note(jd, src, text);
}

/* Reads a dump; one that the user gave may be of any process. Returns false,
 * after a note, if it cannot be used. */
static bool open_dump(struct jitted *jd, const struct source *src,
		      struct process_code *f, const char *path, bool given)
{
	char text[PATH_SIZE];
	struct err why;

	f->dump = jitdump_open(path, !given, jd->temp_dir, &why);
	if (!f->dump) {
		jitted_note(jd, src, why.msg);
		return false;
	}
	/* The head of a file has the pid of its writer in that one's namespace,
	 * as has the name that it gave to the file. A copy, or what an earlier
	 * process left, may have the name of this process. */
	if (!given && jitdump_pid(f->dump) != f->pid &&
	    jitdump_pid(f->dump) != f->inner) {
		snprintf(text, sizeof(text),
			 "%.*s: not read, as process %" PRId32
			 " wrote it, not %" PRId32 "; --jitdump %" PRId32
			 "=FILE takes it as it is",
			 PATH_SIZE - 200, path, jitdump_pid(f->dump), f->inner,
			 f->pid);
		jitted_note(jd, src, text);
		jitdump_close(f->dump);
		f->dump = NULL;
		return false;
	}
	f->jit = jitdump_read(f->dump, &src->info, jd->ledger, src->index);
	note_found(jd, src, f, path);
	return true;
}

/* Reads a map. Returns false, after a note, if it cannot be used. */
static bool open_map(struct jitted *jd, const struct source *src,
		     struct process_code *f, const char *path, bool given)
{
	struct err why;

	f->map = perfmap_open(path, !given, jd->temp_dir, &src->info,
			      jd->ledger, src->index, &why);
	if (!f->map) {
		jitted_note(jd, src, why.msg);
		return false;
	}
	f->jit = perfmap_jit(f->map);
	note_found(jd, src, f, path);
	return true;
}

static bool jitted_is_file(const char *path, struct stat *st)
{
	return !lstat(path, st) && S_ISREG(st->st_mode);
}

/* Returns whether DIR/NAME exists, maybe compressed; stores its path. */
static bool in_folder(const char *dir, size_t n, const char *name, char *out)
{
	static const char *const packed[] = { "", ".gz", ".zst" };
	struct stat st;

	return any_where(ARRAY_SIZE(packed), i,
			 (size_t)snprintf(out, PATH_SIZE, "%.*s/%s%s", (int)n,
					  dir, name, packed[i]) < PATH_SIZE &&
				 jitted_is_file(out, &st));
}

/* Returns the capture's folder, or the folder that is the capture; to be freed.
 * NULL: there is none. */
static char *jitted_folder(const struct source *src)
{
	const char *base = path_base(src->path);
	struct stat st;

	if (!strcmp(src->path, "-") || stat(src->path, &st))
		return NULL;
	if (S_ISDIR(st.st_mode))
		return mem_strdup(src->path);
	if (base == src->path)
		return mem_strdup(".");

	size_t n = (size_t)(base - src->path - 1);
	char *dir = mem_dup(src->path, n + 1);

	dir[n] = '\0';
	return dir;
}

/* Lists a folder as far as the number of processes asked for allows. */
static void jitted_list(struct jitted *jd, unsigned int source,
			struct capture_db_files *b)
{
	DIR *d = b->dir ? opendir(b->dir) : NULL;
	const struct dirent *e = NULL;
	int32_t pid;

	b->looked = 2 * LIST_EACH * b->asked;
	errno = 0;
	for (size_t i = 0; d && i < b->looked && (e = readdir(d)); i++)
		if (pid_in_name(e->d_name, "jit-", ".dump", &pid) ||
		    pid_in_name(e->d_name, "perf-", ".map", &pid))
			table_find_or_add(&jd->listed,
					  hash_u32s(source, (uint32_t)pid), 0);
	b->listed = d && !e && !errno;
	if (d)
		closedir(d);
}

/* Returns false if the folder surely has no file of a process. */
static bool jitted_may_have(struct jitted *jd, unsigned int source,
			    struct capture_db_files *b, int32_t pid)
{
	if (!b->listed && ++b->asked * LIST_EACH > b->looked)
		jitted_list(jd, source, b);
	return !b->listed || pid > PID_MAX ||
	       table_find_hash(&jd->listed, hash_u32s(source, (uint32_t)pid)) !=
		       TABLE_NONE;
}

/* Looks for the file of a process next to the capture. */
static bool jitted_path_adjacent(struct jitted *jd, const struct source *src,
				 int32_t pid, const char *name, char *out)
{
	struct capture_db_files *b =
		mem_at(jd->beside, jd->n_beside, jd->cap_beside, src->index);

	if (!b->known) {
		b->dir = jitted_folder(src);
		b->known = true;
	}
	return b->dir && jitted_may_have(jd, src->index, b, pid) &&
	       in_folder(b->dir, strlen(b->dir), name, out);
}

/* Looks for the path, which may be from a capture, below --symfs. */
static bool jitted_below_symfs(const struct jitted *jd, const char *path,
			       char *out)
{
	const char *symfs = jd->ask->symfs;

	return symfs && path[0] == '/' && !path_leaves_root(path) &&
	       in_folder(symfs, strlen(symfs), path + 1, out);
}

static int64_t stat_ns(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

static bool is_ours(const struct source *src, const struct stat *st)
{
	struct stat cap;

	return !st->st_uid || st->st_uid == geteuid() ||
	       (!stat(src->path, &cap) && st->st_uid == cap.st_uid);
}

/* Returns whether the file was written to during the capture. */
static bool in_time(const struct source *src, const struct stat *st)
{
	uint64_t took = src->info.last_ns - src->info.first_ns;
	struct stat cap;

	if (stat(src->path, &cap) || !src->info.last_ns ||
	    took > (uint64_t)INT64_MAX / 2)
		return false;
	int64_t end = stat_ns(&cap) + MTIME_SLACK_NS;
	int64_t start = stat_ns(&cap) - (int64_t)took - MTIME_SLACK_NS;

	return stat_ns(st) >= start && stat_ns(st) <= end;
}

/* Returns the file that the user names for a process, by its pid outside or
 * else inside its namespace; NULL: none. */
static const char *named_file(const struct virtual_file *list, size_t n,
			      const struct process_code *f)
{
	const int32_t pid[] = { f->pid, f->inner };

	for (size_t k = 0; k < ARRAY_SIZE(pid); k++)
		for (size_t i = 0; i < n; i++)
			if (list[i].pid == pid[k] && pid[k] >= 0)
				return list[i].path;
	return NULL;
}

/* Returns whether a process of the capture may have written the file. */
static bool may_be_here(const struct jitted *jd, const struct source *src,
			const char *path, struct stat *st)
{
	return !jd->ask->symfs &&
	       identity_recorded_here(src->info.host, src->info.release) &&
	       jitted_is_file(path, st) && is_ours(src, st);
}

/* Finds and reads the dump of a process; notes if one is missing. */
static bool find_dump(struct jitted *jd, const struct source *src,
		      struct process_code *f, const struct rec_map *hint)
{
	const char *named = named_file(jd->dump, jd->n_dump, f);
	char name[PATH_SIZE], path[PATH_SIZE];

	if (named)
		return open_dump(jd, src, f, named, true);
	if (jd->ask->only)
		return false;
	snprintf(name, sizeof(name), "jit-%" PRId32 ".dump", f->inner);
	if (jitted_path_adjacent(jd, src, f->inner, name, path) &&
	    open_dump(jd, src, f, path, false))
		return true;
	if (!hint)
		return false;
	if (jitted_below_symfs(jd, hint->path, path) &&
	    open_dump(jd, src, f, path, false))
		return true;
	/* Last comes the path in the mapping record of the process, if its file
	 * is still the one that was mapped. */
	const struct image img = {
		.kind = IMAGE_FILE,
		.path = hint->path,
		.maj = hint->maj,
		.min = hint->min,
		.ino = hint->ino,
		.ino_gen = hint->ino_gen,
	};
	struct stat st;

	if (may_be_here(jd, src, hint->path, &st) &&
	    identity_may_be_mapped(&img))
		return open_dump(jd, src, f, hint->path, false);
	snprintf(path, sizeof(path),
		 "%.*s: not here; give it with --jitdump, to name what process "
		 "%" PRId32 " made",
		 PATH_SIZE - 100, hint->path, f->pid);
	jitted_note(jd, src, path);
	return false;
}

/* Finds and reads the map of a process. Returns false if there is none. */
static bool find_map(struct jitted *jd, const struct source *src,
		     struct process_code *f)
{
	const char *named = named_file(jd->map, jd->n_map, f);
	char name[64], path[PATH_SIZE], wrote[80];
	struct stat st;

	snprintf(name, sizeof(name), "perf-%" PRId32 ".map", f->inner);
	snprintf(wrote, sizeof(wrote), "/tmp/%s", name);
	if (named)
		return open_map(jd, src, f, named, true);
	for (size_t i = 0; i < jd->n_map; i++)
		if (jd->map[i].pid < 0 &&
		    in_folder(jd->map[i].path, strlen(jd->map[i].path), name,
			      path))
			return open_map(jd, src, f, path, false);
	if (jd->ask->only)
		return false;
	if (jitted_path_adjacent(jd, src, f->inner, name, path) ||
	    jitted_below_symfs(jd, wrote, path))
		return open_map(jd, src, f, path, false);
	/* while a stream is read, processes write more files */
	return (!strcmp(src->path, "-") ||
		jitted_may_have(jd, SOURCE_TEMP, &jd->temp, f->inner)) &&
	       may_be_here(jd, src, wrote, &st) && in_time(src, &st) &&
	       open_map(jd, src, f, wrote, false);
}

bool jitted_find(void *arg, const struct source *src, int32_t pid,
		 const struct rec_map *hint, struct jit **out)
{
	struct jitted *jd = arg;
	uint32_t id = table_find_or_add(
		&jd->by_pid, hash_u32s(src->index, (uint32_t)pid), jd->n);
	bool is_new = id == jd->n;

	if (is_new)
		*mem_add(jd->found, jd->n, jd->cap) = (struct process_code){
			.source = src->index, .pid = pid, .inner = pid
		};

	struct process_code *f = &jd->found[id];

	/* a map may have been found before the record of the jitdump file */
	if (!f->dump && (is_new || hint)) {
		if (hint &&
		    !pid_in_name(hint->path, "jit-", ".dump", &f->inner))
			f->inner = pid;
		if (!find_dump(jd, src, f, hint) && !f->map)
			find_map(jd, src, f);
	}
	*out = f->jit;
	return f->jit != NULL;
}
