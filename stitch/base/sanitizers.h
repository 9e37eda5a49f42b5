/* sanitizers.h - which sanitizers this program was built with. */
#pragma once

/* gcc says it by a macro, clang 14 by a feature. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SANITIZERS_ADDRESS 1
#else
#define SANITIZERS_ADDRESS 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define SANITIZERS_THREAD 1
#else
#define SANITIZERS_THREAD 0
#endif
