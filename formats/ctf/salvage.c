/* salvage.c - makes traces with cut or damaged stream files readable.
 *
 * libbabeltrace2 2.0.4 rejects a whole trace if one packet of one file is
 * damaged. So the packets of all files are checked first. If some are damaged,
 * a temporary folder replaces the trace: it has links to the good files, and
 * copies of the good packets of the others. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/ctf/ctf.h"
#include "formats/reader/reader.h"
#include "stitch/base/err.h"

/* One stream file of a trace. */
struct stream_file {
	char *name, *path;
	uint64_t len;
	struct ctf_chain chain;
	bool bad; /* it has damaged parts */
};

struct stream_files {
	struct stream_file *at;
	size_t n, cap;
	bool bad;
};

static char *ctf_salvage_join_path(const char *dir, const char *name)
{
	size_t len = strlen(dir) + strlen(name) + 2;
	char *path = mem_new(len, 1);

	snprintf(path, len, "%s/%s", dir, name);
	return path;
}

static uint64_t ctf_salvage_to_ns(const struct ctf_trace *tr, uint64_t cycles)
{
	unsigned __int128 v = (unsigned __int128)cycles * 1000000000u;

	if (!tr->meta.freq)
		return 0;
	v /= tr->meta.freq;
	return v > INT64_MAX ? INT64_MAX : (uint64_t)v;
}

/* Reports a damaged part; the good parts around it tell its time range. */
static void ctf_salvage_report_part(const struct ctf_trace *tr,
				    const struct stream_file *f, size_t i)
{
	const struct ctf_part *p = &f->chain.part[i];
	struct err why;
	struct ledger_entry e = {
		.kind = LEDGER_DAMAGE,
		.capture = tr->ctf->src.index,
		.what = "packet",
		.detail = why.msg,
		.off = p->off,
		.len = p->len,
		.n = 1,
		.cpu = -1,
		.event = -1,
	};

	err_at(&why, f->path, p->off,
	       "no packet: %" PRIu64 " bytes are left out", p->len);
	if (i && i + 1 < f->chain.n) {
		e.t0 = ctf_salvage_to_ns(tr, p[-1].end);
		e.t1 = ctf_salvage_to_ns(tr, p[1].begin);
	} else if (i) {
		e.what = "truncated";
		e.t0 = ctf_salvage_to_ns(tr, p[-1].end);
	}
	ledger_add(tr->ctf->src.ledger, &e);
}

static void ctf_salvage_check_file(struct ctf_trace *tr, struct stream_file *f)
{
	uint64_t len;
	void *data = ctf_file_map(f->path, &len);

	f->len = len;
	tr->ctf->files += len;
	if (!data)
		return;
	ctf_chain_read(&tr->meta, data, len, &f->chain);
	ctf_file_unmap(data, len);
	if (!f->chain.known)
		return;
	tr->packets += f->chain.packets;
	if (f->chain.packets && f->chain.begin < tr->start)
		tr->start = f->chain.begin;
	for (size_t i = 0; i < f->chain.n; i++)
		if (!f->chain.part[i].good) {
			f->bad = true;
			ctf_salvage_report_part(tr, f, i);
		}
}

/* Lists the files that the library would read as streams. */
static int ctf_salvage_list_files(struct ctf_trace *tr, struct stream_files *fs,
				  struct err *err)
{
	struct dirent **list;
	int n = scandir(tr->path, &list, NULL, alphasort);

	if (n < 0)
		return err_set(err, ERR_IO, "%s: %m", tr->path);
	for (int i = 0; i < n; i++) {
		const char *name = list[i]->d_name;
		char *path = ctf_salvage_join_path(tr->path, name);
		struct stat st;

		if (*name == '.' || !strcmp(name, "metadata") ||
		    stat(path, &st) || !S_ISREG(st.st_mode)) {
			free(path);
			free(list[i]);
			continue;
		}
		struct stream_file *f = mem_add(fs->at, fs->n, fs->cap);

		*f = (struct stream_file){ .name = mem_strdup(name),
					   .path = path };
		ctf_salvage_check_file(tr, f);
		fs->bad |= f->bad;
		free(list[i]);
	}
	free(list);
	return 0;
}

static void ctf_salvage_release_files(struct stream_files *fs)
{
	for (size_t i = 0; i < fs->n; i++) {
		free(fs->at[i].name);
		free(fs->at[i].path);
		ctf_chain_release(&fs->at[i].chain);
	}
	free(fs->at);
}

/* ---- the temporary folder */

static int ctf_salvage_make_temp(struct ctf *ctf, struct err *err)
{
	const char *dir = ctf->opts.temp_dir ? ctf->opts.temp_dir : "/tmp";

	if (ctf->temp)
		return 0;
	ctf->temp = ctf_salvage_join_path(dir, "backstitch-ctf-XXXXXX");
	if (mkdtemp(ctf->temp))
		return 0;
	free(ctf->temp);
	ctf->temp = NULL;
	return err_set(err, ERR_IO,
		       "%s: cannot make a folder for the good part of a "
		       "damaged trace (%m); set TMPDIR",
		       dir);
}

static int ctf_salvage_write(int fd, const unsigned char *p, uint64_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n < 1 << 30 ? n : 1 << 30);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		p += done;
		n -= (uint64_t)done;
	}
	return 0;
}

static int ctf_salvage_copy_good(const struct stream_file *f, const char *to,
				 struct err *err)
{
	uint64_t len;
	unsigned char *data = ctf_file_map(f->path, &len);
	int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int rc = fd < 0 || !data ? -1 : 0;

	for (size_t i = 0; !rc && i < f->chain.n; i++) {
		const struct ctf_part *p = &f->chain.part[i];

		if (p->good && p->off + p->len <= len)
			rc = ctf_salvage_write(fd, data + p->off, p->len);
	}
	if (rc)
		err_set(err, ERR_IO,
			"%s: cannot write the good part of a damaged file "
			"(%m); set TMPDIR",
			to);
	ctf_file_unmap(data, len);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int ctf_salvage_link(const char *dir, const char *name, const char *to,
			    struct err *err)
{
	char *real = realpath(to, NULL);
	char *path = ctf_salvage_join_path(dir, name);
	int rc = real && !symlink(real, path) ? 0 : -1;

	if (rc)
		err_set(err, ERR_IO, "%s: %m", path);
	free(real);
	free(path);
	return rc;
}

static int ctf_salvage_put_file(const struct stream_file *f, const char *dir,
				struct err *err)
{
	if (!f->bad)
		return ctf_salvage_link(dir, f->name, f->path, err);
	char *to = ctf_salvage_join_path(dir, f->name);
	int rc = f->chain.packets ? ctf_salvage_copy_good(f, to, err) : 0;

	free(to);
	return rc;
}

/* Links the metadata file, or writes the complete statements of a cut one: on
 * a cut packet the library (2.0.4) loops forever. */
static int ctf_salvage_put_metadata(const struct ctf_trace *tr, struct err *err)
{
	char *from = ctf_salvage_join_path(tr->path, "metadata");
	char *to = ctf_salvage_join_path(tr->shown, "metadata");
	uint64_t len;
	size_t n = 0;
	int rc;

	if (!tr->meta.cut) {
		rc = ctf_salvage_link(tr->shown, "metadata", from, err);
	} else {
		void *data = ctf_file_map(from, &len);
		char *text = ctf_meta_whole(data ? data : "", len, &n);
		int fd =
			open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		rc = fd < 0 ? -1
			    : ctf_salvage_write(fd, (const unsigned char *)text,
						n);
		if (rc)
			err_set(err, ERR_IO, "%s: %m", to);
		if (fd >= 0)
			close(fd);
		free(text);
		ctf_file_unmap(data, len);
	}
	free(from);
	free(to);
	return rc;
}

static void ctf_salvage_report_metadata(const struct ctf_trace *tr)
{
	struct err why;

	err_set(&why, ERR_FORMAT,
		"%s/metadata: it ends in the middle: what it says of streams "
		"and events up to there is used",
		tr->path);
	reader_damage(&tr->ctf->src, "metadata", 0, 0, &why);
}

static int ctf_salvage_make_folder(struct ctf_trace *tr,
				   const struct stream_files *fs,
				   struct err *err)
{
	struct ctf *ctf = tr->ctf;
	char name[32];

	if (ctf_salvage_make_temp(ctf, err))
		return -1;
	snprintf(name, sizeof(name), "%u", ctf->n_temp++);
	tr->shown = ctf_salvage_join_path(ctf->temp, name);
	if (mkdir(tr->shown, 0700))
		return err_set(err, ERR_IO, "%s: %m", tr->shown);
	int rc = ctf_salvage_put_metadata(tr, err);

	for (size_t i = 0; !rc && i < fs->n; i++)
		rc = ctf_salvage_put_file(&fs->at[i], tr->shown, err);
	return rc;
}

int ctf_salvage(struct ctf_trace *tr, struct err *err)
{
	struct stream_files fs = { 0 };

	tr->start = UINT64_MAX;
	int rc = ctf_salvage_list_files(tr, &fs, err);

	if (tr->meta.cut)
		ctf_salvage_report_metadata(tr);
	if (!rc && (fs.bad || tr->meta.cut))
		rc = ctf_salvage_make_folder(tr, &fs, err);
	if (!tr->shown)
		tr->shown = mem_strdup(tr->path);
	if (tr->start == UINT64_MAX)
		tr->start = 0;
	tr->ctf->packets += tr->packets;
	tr->start = ctf_salvage_to_ns(tr, tr->start);
	ctf_salvage_release_files(&fs);
	return rc;
}

/* Removes a folder that has only files and links made above. */
static void ctf_salvage_remove_folder(const char *dir)
{
	struct dirent **list;
	int n = scandir(dir, &list, NULL, NULL);

	for (int i = 0; i < n; i++) {
		if (strcmp(list[i]->d_name, ".") &&
		    strcmp(list[i]->d_name, "..")) {
			char *path =
				ctf_salvage_join_path(dir, list[i]->d_name);

			unlink(path);
			free(path);
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	rmdir(dir);
}

void ctf_salvage_end(struct ctf *ctf)
{
	char name[32];

	for (unsigned int i = 0; ctf->temp && i < ctf->n_temp; i++) {
		snprintf(name, sizeof(name), "%u", i);
		char *dir = ctf_salvage_join_path(ctf->temp, name);

		ctf_salvage_remove_folder(dir);
		free(dir);
	}
	if (ctf->temp)
		rmdir(ctf->temp);
	free(ctf->temp);
	ctf->temp = NULL;
}
