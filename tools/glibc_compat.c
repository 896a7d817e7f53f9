// For make portable only: functions whose newest version in glibc is younger than 2.34, bound to the
// version that every glibc of the machine has: its first. The linker sends the calls here (--wrap);
// tools/portable.sh takes the list from the WRAP lines.
//
// WRAP hypot: 2.35 made it correctly rounded. The __isoc23_ names are what headers since 2.38 turn the
// number readers into, which differ in accepting 0b101.
#ifdef __aarch64__
#define FIRST_VERSION "GLIBC_2.17"
#else
#define FIRST_VERSION "GLIBC_2.2.5"
#endif

double hypot_first(double x, double y);
__asm__(".symver hypot_first, hypot@" FIRST_VERSION);
double __wrap_hypot(double x, double y);
double __wrap_hypot(double x, double y) { return hypot_first(x, y); }

#define NUMBER_READER(type, name)                                        \
  type name##_first(const char *text, char **end, int base);               \
  __asm__(".symver " #name "_first, " #name "@" FIRST_VERSION);          \
  type __wrap___isoc23_##name(const char *text, char **end, int base);   \
  type __wrap___isoc23_##name(const char *text, char **end, int base) {  \
    return name##_first(text, end, base);                                  \
  }

NUMBER_READER(long, strtol)                  // WRAP __isoc23_strtol
NUMBER_READER(unsigned long, strtoul)        // WRAP __isoc23_strtoul
NUMBER_READER(long long, strtoll)            // WRAP __isoc23_strtoll
NUMBER_READER(unsigned long long, strtoull)  // WRAP __isoc23_strtoull
