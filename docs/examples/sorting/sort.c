// Times three sorting variants on the same arrays and writes working/metrics.json. A first program
// for idea.md, as a model might write it; the tests of `dossier research` hand it in.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kElements = 200000, kRepeats = 5, kCutoff = 24, kVariants = 3, kInputs = 3 };

static unsigned long long state;

static int NextRandom(void) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (int)(state >> 33);
}

static void Shell(int* a, int n) {
  for (int gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11) {
    for (int i = gap; i < n; ++i) {
      const int x = a[i];
      int j = i;
      for (; j >= gap && a[j - gap] > x; j -= gap) a[j] = a[j - gap];
      a[j] = x;
    }
  }
}

static void Sink(int* a, int i, int n) {
  const int x = a[i];
  for (int child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && a[child + 1] > a[child]) ++child;
    if (a[child] <= x) break;
    a[i] = a[child];
  }
  a[i] = x;
}

static void Heap(int* a, int n) {
  for (int i = n / 2 - 1; i >= 0; --i) Sink(a, i, n);
  for (int end = n - 1; end > 0; --end) {
    const int x = a[0];
    a[0] = a[end];
    a[end] = x;
    Sink(a, 0, end);
  }
}

static void Insertion(int* a, int n) {
  for (int i = 1; i < n; ++i) {
    const int x = a[i];
    int j = i;
    for (; j > 0 && a[j - 1] > x; --j) a[j] = a[j - 1];
    a[j] = x;
  }
}

static int Median(int x, int y, int z) {
  if (x > y) return y > z ? y : (x > z ? z : x);
  return x > z ? x : (y > z ? z : y);
}

static void Quick(int* a, int n) {
  while (n > kCutoff) {
    const int pivot = Median(a[0], a[n / 2], a[n - 1]);
    int i = 0, j = n - 1;
    while (i <= j) {
      while (a[i] < pivot) ++i;
      while (a[j] > pivot) --j;
      if (i <= j) {
        const int x = a[i];
        a[i++] = a[j];
        a[j--] = x;
      }
    }
    Quick(a, j + 1);
    a += i;
    n -= i;
  }
  Insertion(a, n);
}

static void Fill(int* a, int input) {
  for (int i = 0; i < kElements; ++i) {
    a[i] = input == 1 ? i : input == 2 ? NextRandom() % 16 : NextRandom();
  }
}

static int CompareTimes(const void* x, const void* y) {
  const double a = *(const double*)x, b = *(const double*)y;
  return (a > b) - (a < b);
}

static double Seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Median nanoseconds for each element; ends the program if the result is not sorted.
static double Measure(void (*sort)(int*, int), const int* input, int* work) {
  double times[kRepeats];
  for (int r = 0; r < kRepeats; ++r) {
    memcpy(work, input, sizeof(int) * kElements);
    const double start = Seconds();
    sort(work, kElements);
    times[r] = (Seconds() - start) * 1e9 / kElements;
    for (int i = 1; i < kElements; ++i) {
      if (work[i - 1] > work[i]) {
        fprintf(stderr, "error: the result is not sorted at %d\n", i);
        exit(1);
      }
    }
  }
  qsort(times, kRepeats, sizeof(double), CompareTimes);
  return times[kRepeats / 2];
}

int main(void) {
  static int input[kInputs][kElements], work[kElements];
  const char* inputs[kInputs] = {"random", "sorted", "few_values"};
  const char* names[kVariants] = {"quick", "heap", "shell"};
  void (*const variants[kVariants])(int*, int) = {Quick, Heap, Shell};
  const char* seed = getenv("DOSSIER_SEED");
  state = seed ? strtoull(seed, NULL, 10) + 1 : 1;
  for (int i = 0; i < kInputs; ++i) Fill(input[i], i);
  FILE* out = fopen("working/metrics.json", "w");
  if (!out) return 1;
  fprintf(out, "{\"metric_names\": [");
  for (int v = 0; v < kVariants; ++v) {
    fprintf(out, "%s{\"metric_name\": \"%s_ns\", \"lower_is_better\": true, \"description\": "
            "\"nanoseconds for each element\", \"data\": [", v ? ", " : "", names[v]);
    for (int i = 0; i < kInputs; ++i) {
      const double ns = Measure(variants[v], input[i], work);
      printf("%s %s %.2f ns for each element\n", names[v], inputs[i], ns);
      fprintf(out, "%s{\"dataset_name\": \"%s\", \"value\": %.4f}", i ? ", " : "", inputs[i], ns);
    }
    fprintf(out, "]}");
  }
  fprintf(out, "]}\n");
  return fclose(out) == 0 ? 0 : 1;
}
