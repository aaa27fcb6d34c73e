#include "research/setup/output_name.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace dossier::research {
namespace {

TEST(OutputNameTest, NamesFollowTheRule) {  // RSP-28, RSP-T12
  const struct {
    std::string run, name;
  } cases[] = {
      {"", "experiment_data.npy"},
      {"2026-01-28_17-46-11_Matrix Opt!_attempt_3", "matrix_opt_data.npy"},
      {"Matrix Opt", "matrix_opt_data.npy"},
      {"2026-01-28_17-46-11_x", "x_data.npy"},
      {"2026-1-28_17-46-11_x", "2026-1-28_17-46-11_x_data.npy"},
      {"x_attempt_", "x_attempt_data.npy"},
      {"a_attempt_1_attempt_2", "a_attempt_1_data.npy"},
      {"__a---b__", "a---b_data.npy"},
      {"größe", "gr_e_data.npy"},
      {"!!!", "experiment_data.npy"},
      {"2026-01-28_17-46-11__attempt_0", "experiment_data.npy"},
      {std::string(60, 'a'), std::string(50, 'a') + "_data.npy"},
      {std::string(49, 'a') + "_b", std::string(49, 'a') + "_data.npy"},
  };
  for (const auto& c : cases) EXPECT_EQ(OutputName(c.run), c.name) << c.run;
}

TEST(OutputNameTest, AnyNameGivesAPlainFileName) {  // RSP-28
  Random random(/*seed=*/5);
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789_-.";
  for (int round = 0; round < 1000; ++round) {
    const std::string name = OutputName(random.Utf8(/*max_bytes=*/120));
    EXPECT_EQ(name.find_first_not_of(kAllowed), std::string::npos) << name;
    EXPECT_LE(name.size(), 59u);
    EXPECT_TRUE(name.ends_with("_data.npy"));
  }
}

}  // namespace
}  // namespace dossier::research
