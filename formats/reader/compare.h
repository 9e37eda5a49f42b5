/* compare.h - comparison functions for qsort() and bsearch() by one field. */
#ifndef FORMATS_READER_COMPARE_H
#define FORMATS_READER_COMPARE_H

/* Defines the function `name`, which orders items of a type by a number. A
 * semicolon follows, so that ctags takes it for a declaration. */
#define COMPARE_BY(name, type, field)                                          \
	static int name(const void *a, const void *b)                          \
	{                                                                      \
		const type *x = a;                                             \
		const type *y = b;                                             \
                                                                               \
		return (x->field > y->field) - (x->field < y->field);          \
	}                                                                      \
	static int name(const void *a, const void *b)
#endif
