/* search.h - comparison of numbers, sorting, and binary search. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Compares two numbers: -1, 0 or 1. Functions for qsort() join several with ?:.
 * Evaluates its arguments twice. */
#define compare_numbers(x, y) (((x) > (y)) - ((x) < (y)))

/* Compares x and y by the first of up to six fields in which they differ. */
#define COMPARE_1(f) compare_numbers(x->f, y->f)
#define COMPARE_2(f, ...) COMPARE_1(f) ?: COMPARE_1(__VA_ARGS__)
#define COMPARE_3(f, ...) COMPARE_1(f) ?: COMPARE_2(__VA_ARGS__)
#define COMPARE_4(f, ...) COMPARE_1(f) ?: COMPARE_3(__VA_ARGS__)
#define COMPARE_5(f, ...) COMPARE_1(f) ?: COMPARE_4(__VA_ARGS__)
#define COMPARE_6(f, ...) COMPARE_1(f) ?: COMPARE_5(__VA_ARGS__)
#define COMPARE_OF(f1, f2, f3, f4, f5, f6, compare, ...) compare

#define COMPARE_FIELDS(...)                                                    \
	COMPARE_OF(__VA_ARGS__, COMPARE_6, COMPARE_5, COMPARE_4, COMPARE_3,    \
		   COMPARE_2, COMPARE_1, 0)                                    \
	(__VA_ARGS__)

/* Defines the function `name` for qsort() and bsearch(), which orders items x
 * and y of a type by an expression. A semicolon follows, so that ctags takes it
 * for a declaration. */
#define COMPARE_FUNCTION(name, type, order)                                    \
	static int name(const void *a, const void *b)                          \
	{                                                                      \
		const type *x = a;                                             \
		const type *y = b;                                             \
                                                                               \
		return order;                                                  \
	}                                                                      \
	static int name(const void *a, const void *b)

/* The same for sort_items_by(): the expression may also use `of`, its `arg`. */
#define COMPARE_FUNCTION_OF(name, type, given, order)                          \
	static int name(const void *a, const void *b, void *arg)               \
	{                                                                      \
		const type *x = a;                                             \
		const type *y = b;                                             \
		const given *of = arg;                                         \
                                                                               \
		return order;                                                  \
	}                                                                      \
	static int name(const void *a, const void *b, void *arg)

/* Like COMPARE_FUNCTION(), by up to six fields that are numbers: the first,
 * then the next if equal. COMPARE_LARGEST_BY() puts items with the largest
 * `size` first. */
#define COMPARE_BY(name, type, ...)                                            \
	COMPARE_FUNCTION(name, type, COMPARE_FIELDS(__VA_ARGS__))
#define COMPARE_LARGEST_BY(name, type, size, ...)                              \
	COMPARE_FUNCTION(name, type,                                           \
			 compare_numbers(y->size, x->size)                     \
				 ?: COMPARE_FIELDS(__VA_ARGS__))

/* Compare numbers, and texts, for qsort() and bsearch(). */
static inline int compare_u32(const void *a, const void *b)
{
	return compare_numbers(*(const uint32_t *)a, *(const uint32_t *)b);
}
static inline int compare_u64(const void *a, const void *b)
{
	return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}
static inline int compare_i64(const void *a, const void *b)
{
	return compare_numbers(*(const int64_t *)a, *(const int64_t *)b);
}
static inline int compare_double(const void *a, const void *b)
{
	return compare_numbers(*(const double *)a, *(const double *)b);
}
static inline int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sort n items; n may be 0, for which qsort() would still need an array.
 * sort_items_by() passes `arg` to compare(). Both evaluate n twice. */
#define sort_items(item, n, compare)                                           \
	((n) > 0 ? qsort(item, n, sizeof(*(item)), compare) : (void)0)
#define sort_items_by(item, n, compare, arg)                                   \
	((n) > 0 ? qsort_r(item, n, sizeof(*(item)), compare, arg) : (void)0)

/* The index of the first of n items for which the expression `holds`, which
 * refers to the item's index as i, is true; n if there is none. It must be true
 * for every item that follows one for which it is true. Evaluated at most
 * log2(n) + 1 times. */
#define search_where(n, i, holds)                                              \
	({                                                                     \
		size_t low_ = 0;                                               \
		size_t high_ = (n);                                            \
                                                                               \
		while (low_ < high_) {                                         \
			size_t i = low_ + (high_ - low_) / 2;                  \
                                                                               \
			if (holds)                                             \
				high_ = i;                                     \
			else                                                   \
				low_ = i + 1;                                  \
		}                                                              \
		low_;                                                          \
	})
