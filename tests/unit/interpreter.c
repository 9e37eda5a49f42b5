/* interpreter.c - which frames are an interpreter's own. */
#include "analyze/stacks/interpreter.h"

#include <string.h>

#include "tests/unit/run.h"

static struct interpreter_frame
interpreter_test_frame(const char *path, bool jit, const char *name)
{
	return interpreter_frame(interpreters_of(path, jit), jit, name);
}

struct expected {
	const char *path, *name;
	bool jit;
	enum interpreter_class kind;
	const char *label; /* NULL: any */
};

static void interpreter_check(const struct expected *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct interpreter_frame f =
			interpreter_test_frame(t[i].path, t[i].jit, t[i].name);

		ck_assert_msg(f.kind == t[i].kind, "%s in %s is %d", t[i].name,
			      t[i].path, f.kind);
		if (t[i].label)
			ck_assert_str_eq(interpreter_label(f.language),
					 t[i].label);
	}
}

START_TEST(a_rule_knows_a_frame_by_its_image_and_its_name)
{
	static const struct expected t[] = {
		{ "/usr/bin/python3.11", "_PyEval_EvalFrameDefault", false,
		  INTERPRETER_OWN, "[interpreter: python]" },
		{ "/usr/lib/libpython3.12.so.1.0", "PyObject_Vectorcall", false,
		  INTERPRETER_OWN, "[interpreter: python]" },
		{ "/usr/bin/python3.11", "PyObject_CallOneArg", false,
		  INTERPRETER_OWN, "[interpreter: python]" },
		/* what the program asked for is shown */
		{ "/usr/bin/python3.11", "list_sort", false, INTERPRETER_NONE,
		  NULL },
		{ "/usr/bin/prog", "_PyEval_EvalFrameDefault", false,
		  INTERPRETER_NONE, NULL },
		{ "[jit]", "py::f:<frozen x>", true, INTERPRETER_CODE,
		  "[interpreter: python]" },
		{ "[jit]", "JS:*fib a.js:1", true, INTERPRETER_CODE,
		  "[interpreter: node]" },
		{ "[jit]", "Builtin:JSEntry", true, INTERPRETER_OWN,
		  "[interpreter: node]" },
		/* a program's own function of such a name */
		{ "/usr/bin/prog", "Builtin:JSEntry", false, INTERPRETER_NONE,
		  NULL },
		{ "/usr/bin/node", "Builtins_JSEntryTrampoline", false,
		  INTERPRETER_OWN, "[interpreter: node]" },
		{ "/usr/bin/perl", "Perl_runops_standard", false,
		  INTERPRETER_OWN, "[interpreter: perl]" },
		{ "/usr/lib/libruby-3.1.so.3.1", "vm_exec_core", false,
		  INTERPRETER_OWN, "[interpreter: ruby]" },
		{ "/usr/bin/luajit", "lj_vm_call", false, INTERPRETER_OWN,
		  "[interpreter: lua]" },
		{ "/usr/lib/jvm/lib/server/libjvm.so", "JavaCalls::call", false,
		  INTERPRETER_OWN, "[interpreter: jvm]" },
		{ "[jit]", "Interpreter", true, INTERPRETER_OWN,
		  "[interpreter: jvm]" },
		{ "[jit]", "Ljava/lang/String;::hashCode", true,
		  INTERPRETER_CODE, "[interpreter: jvm]" },
		{ "[jit]", "jit_alpha", true, INTERPRETER_NONE, NULL },
	};

	interpreter_check(t, sizeof(t) / sizeof(*t));
}
END_TEST

/* perl, ruby and lua are stripped there. */
START_TEST(names_in_the_programs_of_debian_12_are_known)
{
	static const struct expected t[] = {
		{ "/usr/bin/perl", "perl_run", false, INTERPRETER_OWN,
		  "[interpreter: perl]" },
		{ "/usr/bin/perl", "Perl_pp_entersub", false, INTERPRETER_OWN,
		  "[interpreter: perl]" },
		{ "/usr/bin/perl", "Perl_pp_leavesub", false, INTERPRETER_OWN,
		  "[interpreter: perl]" },
		{ "/usr/bin/perl", "Perl_pp_leavetry", false, INTERPRETER_OWN,
		  "[interpreter: perl]" },
		{ "/usr/bin/perl", "Perl_pp_enterwrite", false,
		  INTERPRETER_NONE, NULL },
		{ "/usr/bin/perl", "Perl_pp_sort", false, INTERPRETER_NONE,
		  NULL },
		{ "/usr/bin/perl", "Perl_regexec_flags", false,
		  INTERPRETER_NONE, NULL },
		{ "/usr/lib/libruby-3.1.so.3.1.2", "rb_vm_exec", false,
		  INTERPRETER_OWN, "[interpreter: ruby]" },
		{ "/usr/lib/libruby-3.1.so.3.1.2", "rb_yield_values2", false,
		  INTERPRETER_OWN, "[interpreter: ruby]" },
		{ "/usr/lib/libruby-3.1.so.3.1.2", "rb_block_call_kw", false,
		  INTERPRETER_OWN, "[interpreter: ruby]" },
		{ "/usr/lib/libruby-3.1.so.3.1.2", "rb_ensure", false,
		  INTERPRETER_OWN, "[interpreter: ruby]" },
		{ "/usr/lib/libruby-3.1.so.3.1.2", "rb_ary_sort", false,
		  INTERPRETER_NONE, NULL },
		{ "/usr/lib/libruby-3.1.so.3.1.2", "rb_ec_ary_new_from_values",
		  false, INTERPRETER_NONE, NULL },
		{ "/usr/bin/lua5.4", "lua_pcallk", false, INTERPRETER_OWN,
		  "[interpreter: lua]" },
		{ "/usr/bin/lua5.4", "lua_resume", false, INTERPRETER_OWN,
		  "[interpreter: lua]" },
		{ "/usr/bin/lua5.4", "lua_geti", false, INTERPRETER_NONE,
		  NULL },
		{ "/usr/bin/luajit", "lua_cpcall", false, INTERPRETER_OWN,
		  "[interpreter: lua]" },
	};

	interpreter_check(t, sizeof(t) / sizeof(*t));
}
END_TEST

RUN("interpreter", a_rule_knows_a_frame_by_its_image_and_its_name,
    names_in_the_programs_of_debian_12_are_known)
