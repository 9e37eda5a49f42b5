/* expr_types.c - the types that print formats cast to and fields are declared
 * with. */
#include "formats/tracepoint/expr_types.h"

#include <ctype.h>

#include "stitch/base/mem.h"
#include "stitch/base/words.h"

size_t expr_types_word(const char **s, const char **word)
{
	while (isspace((unsigned char)**s))
		++*s;
	*word = *s;
	while (isalnum((unsigned char)**s) || **s == '_')
		++*s;
	return (size_t)(*s - *word);
}

static bool expr_types_star(const char **s)
{
	while (isspace((unsigned char)**s))
		++*s;
	if (**s != '*')
		return false;
	++*s;
	return true;
}

struct expr_type_names {
	const char *names;
	uint8_t bytes; /* 0: they say nothing of the size */
	enum {
		TYPE_SIGNED,
		TYPE_UNSIGNED,
		TYPE_EITHER
	} sign;
	enum {
		TYPE_IS,
		TYPE_LONG,
		TYPE_TAG
	} what;
};

/* Words of types, those that formats have most often first; LONG: of 4 bytes on
 * a machine of 32 bits, and a second one makes 8; TAG: another word follows.
 * Names of the kernel are those that formats of Linux 3.0 to 7.3 cast to. */
static const struct expr_type_names types[] = {
	{ "unsigned", 0, TYPE_UNSIGNED, TYPE_IS },
	{ "char s8 __s8 int8_t", 1, TYPE_SIGNED, TYPE_IS },
	{ "int", 4, TYPE_EITHER, TYPE_IS },
	{ "u32 __u32 uint32_t __be32 __le32 uint dev_t fmode_t gfp_t "
	  "isolate_mode_t vm_fault_t blk_opf_t",
	  4, TYPE_UNSIGNED, TYPE_IS },
	{ "short", 2, TYPE_EITHER, TYPE_IS },
	{ "u64 __u64 uint64_t __be64 __le64 sector_t dma_addr_t phys_addr_t "
	  "xfs_fsblock_t",
	  8, TYPE_UNSIGNED, TYPE_IS },
	{ "long", 8, TYPE_EITHER, TYPE_LONG },
	{ "const volatile static", 0, TYPE_EITHER, TYPE_IS },
	{ "struct union", 0, TYPE_EITHER, TYPE_TAG },
	{ "u16 __u16 uint16_t __be16 __le16 umode_t", 2, TYPE_UNSIGNED,
	  TYPE_IS },
	{ "void bool u8 __u8 uint8_t uchar", 1, TYPE_UNSIGNED, TYPE_IS },
	{ "signed", 0, TYPE_SIGNED, TYPE_IS },
	{ "enum", 4, TYPE_UNSIGNED, TYPE_TAG },
	{ "s16 __s16 int16_t", 2, TYPE_SIGNED, TYPE_IS },
	{ "s32 __s32 int32_t __kernel_rwf_t pid_t", 4, TYPE_SIGNED, TYPE_IS },
	{ "s64 __s64 int64_t loff_t ktime_t xfs_daddr_t", 8, TYPE_SIGNED,
	  TYPE_IS },
	{ "ssize_t", 8, TYPE_SIGNED, TYPE_LONG },
	{ "ulong size_t uintptr_t ino_t pgoff_t", 8, TYPE_UNSIGNED, TYPE_LONG },
};

static const struct expr_type_names *expr_type_find(const char *w, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (words_find(types[i].names, w, n) >= 0)
			return &types[i];
	return NULL;
}

bool expr_types_take(const char **s, bool long32, struct expr_declared *out)
{
	const char *was = *s;
	const char *w;
	size_t n;
	bool any = false;
	bool is_signed = true;
	bool sign = false;
	uint8_t bytes = 0;
	unsigned int longs = 0;

	for (;; any = true) {
		was = *s;
		n = expr_types_word(s, &w);
		const struct expr_type_names *t = expr_type_find(w, n);

		if (!t)
			break;
		if (t->what == TYPE_TAG) {
			expr_types_word(s, &w);
			bytes = t->bytes;
		}
		longs += t->what == TYPE_LONG;
		if (t->bytes && !longs)
			bytes = bytes && bytes < t->bytes ? bytes : t->bytes;
		if (t->what == TYPE_LONG)
			bytes = long32 && longs < 2 ? 4 : 8;
		if (t->sign != TYPE_EITHER && !sign)
			is_signed = t->sign == TYPE_SIGNED;
		sign |= t->sign != TYPE_EITHER && !t->bytes;
	}
	*s = was;
	if (!any)
		return false;
	if (!bytes && sign)
		bytes = 4;
	*out = (struct expr_declared){ .is = { bytes, is_signed } };
	while (expr_types_star(s)) {
		out->to = out->is;
		out->pointer = true;
		out->is = (struct expr_type){ long32 ? 4 : 8, false };
		was = *s;
		n = expr_types_word(s, &w);
		if (!expr_word_is(w, n, "const"))
			*s = was;
	}
	return true;
}

uint32_t expr_types_element(const char *declared, const char *end)
{
	static const char *const places[] = { "__data_loc ", "__rel_loc " };
	struct expr_declared type;
	char decl[64];
	const char *s = decl;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const size_t n = strlen(places[i]);

		if ((size_t)(end - declared) > n &&
		    !memcmp(declared, places[i], n))
			declared += n;
	}
	snprintf(decl, sizeof(decl), "%.*s", (int)(end - declared), declared);
	return expr_types_take(&s, false, &type) && type.is.bytes
		       ? type.is.bytes
		       : 1;
}
