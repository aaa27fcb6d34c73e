// How the keys of providers begin, and what follows. Internal to base/text/redact.h.

#ifndef DOSSIER_BASE_TEXT_TOKEN_SHAPES_H_
#define DOSSIER_BASE_TEXT_TOKEN_SHAPES_H_

#include <cstddef>
#include <string_view>

#include "base/text/secret_text.h"

namespace dossier::secrets {

// A fixed beginning, then `min_tail` to `max_tail` bytes of one class that look drawn at random.
struct TokenShape {
  std::string_view prefix;  // at least 3 bytes
  bool (*in_tail)(char);
  std::size_t min_tail, max_tail;
  std::string_view kind;
};

constexpr std::size_t kAny = 2048;  // bytes: the longest tail

// By the first byte; of two that begin alike, the longer one first. From what the providers
// document of their keys. Where a length may change, the shortest seen.
inline constexpr TokenShape kTokenShapes[] = {
    {"AKCp8", IsAlnum, 60, 80, "artifactory_key"},
    {"AGE-SECRET-KEY-", IsUpperOrDigit, 58, 60, "age_key"},
    {"ATATT3x", IsBase64, 60, kAny, "atlassian_token"},
    {"ATCTT3x", IsBase64, 60, kAny, "atlassian_token"},
    {"ABIA", IsUpperOrDigit, 16, 16, "aws_key"},
    {"ACCA", IsUpperOrDigit, 16, 16, "aws_key"},
    {"AIza", IsUrlSafe, 35, 35, "google_key"},
    {"AKIA", IsUpperOrDigit, 16, 16, "aws_key"},
    {"ASIA", IsUpperOrDigit, 16, 16, "aws_key"},
    {"ATBB", IsAlnum, 32, 36, "atlassian_token"},
    {"CCIPAT_", IsWord, 63, 63, "circleci_token"},
    {"CFPAT-", IsUrlSafe, 43, 43, "contentful_token"},
    {"EAAA", IsUrlSafe, 56, 64, "square_token"},
    {"EAA", IsAlnum, 90, kAny, "facebook_token"},
    {"GOCSPX-", IsUrlSafe, 28, 28, "google_secret"},
    {"HRKU-", IsUrlSafe, 36, 64, "heroku_key"},
    {"LTAI", IsAlnum, 16, 24, "alibaba_key"},
    {"NRAK-", IsUpperOrDigit, 27, 27, "newrelic_key"},
    {"PMAK-", IsUrlSafe, 59, 59, "postman_key"},
    {"SG.", IsUrlSafeOrDot, 60, 70, "sendgrid_key"},
    {"bkua_", IsHex, 40, 40, "buildkite_token"},
    {"cio", IsAlnum, 32, 32, "crates_token"},
    {"dapi", IsHex, 32, 34, "databricks_token"},
    {"dckr_oat_", IsUrlSafe, 24, 64, "docker_token"},
    {"dckr_pat_", IsUrlSafe, 24, 64, "docker_token"},
    {"django-insecure-", IsVisible, 50, 50, "django_key"},
    {"doo_v1_", IsHex, 64, 64, "digitalocean_token"},
    {"dop_v1_", IsHex, 64, 64, "digitalocean_token"},
    {"dor_v1_", IsHex, 64, 64, "digitalocean_token"},
    {"dp.pt.", IsAlnum, 40, 48, "doppler_token"},
    {"e2b_", IsHex, 40, 40, "e2b_key"},
    {"figd_", IsUrlSafe, 36, 64, "figma_token"},
    {"fm1_", IsBase64, 80, kAny, "fly_token"},
    {"fm2_", IsBase64, 80, kAny, "fly_token"},
    {"fo1_", IsUrlSafe, 40, 64, "fly_token"},
    {"github_pat_", IsWord, 40, 100, "github_token"},
    {"glagent-", IsUrlSafe, 20, 128, "gitlab_token"},
    {"glcbt-", IsUrlSafe, 20, 128, "gitlab_token"},
    {"glimt-", IsUrlSafe, 20, 128, "gitlab_token"},
    {"gloas-", IsUrlSafe, 20, 128, "gitlab_token"},
    {"glpat-", IsUrlSafeOrDot, 20, 320, "gitlab_token"},
    {"glptt-", IsUrlSafe, 20, 128, "gitlab_token"},
    {"gldt-", IsUrlSafe, 20, 128, "gitlab_token"},
    {"glft-", IsUrlSafe, 20, 128, "gitlab_token"},
    {"glrt-", IsUrlSafeOrDot, 20, 128, "gitlab_token"},
    {"glsa_", IsWord, 41, 41, "grafana_token"},
    {"glc_", IsBase64, 32, 400, "grafana_token"},
    {"gho_", IsAlnum, 30, 255, "github_token"},
    {"ghp_", IsAlnum, 30, 255, "github_token"},
    {"ghr_", IsAlnum, 30, 255, "github_token"},
    {"ghs_", IsAlnum, 30, 255, "github_token"},
    {"ghu_", IsAlnum, 30, 255, "github_token"},
    {"gsk_", IsAlnum, 40, 64, "groq_key"},
    {"hf_", IsAlnum, 30, 64, "huggingface_token"},
    {"hvb.", IsUrlSafe, 24, 512, "vault_token"},
    {"hvs.", IsUrlSafe, 24, 512, "vault_token"},
    {"key-", IsHex, 32, 32, "mailgun_key"},
    {"lsv2_pt_", IsWord, 43, 43, "langsmith_key"},
    {"lsv2_sk_", IsWord, 43, 43, "langsmith_key"},
    {"lin_api_", IsAlnum, 32, 48, "linear_key"},
    {"nvapi-", IsUrlSafe, 50, 80, "nvidia_key"},
    {"nfp_", IsAlnum, 32, 48, "netlify_token"},
    {"npm_", IsAlnum, 36, 36, "npm_token"},
    {"ntn_", IsAlnum, 40, 50, "notion_token"},
    {"ops_eyJ", IsBase64, 100, kAny, "onepassword_token"},
    {"oy2", IsLowerOrDigit, 43, 43, "nuget_key"},
    {"pcsk_", IsWord, 60, 80, "pinecone_key"},
    {"pat-", IsUrlSafe, 40, 44, "hubspot_token"},
    {"phx_", IsAlnum, 40, 50, "posthog_key"},
    {"pplx-", IsAlnum, 40, 64, "perplexity_key"},
    {"pscale_oauth_", IsUrlSafeOrDot, 32, 64, "planetscale_token"},
    {"pscale_pw_", IsUrlSafeOrDot, 32, 64, "planetscale_token"},
    {"pscale_tkn_", IsUrlSafeOrDot, 32, 64, "planetscale_token"},
    {"pul-", IsHex, 40, 40, "pulumi_token"},
    {"pypi-", IsUrlSafe, 60, 512, "pypi_token"},
    {"r8_", IsAlnum, 37, 37, "replicate_token"},
    {"rk_live_", IsAlnum, 20, 255, "stripe_key"},
    {"rk_test_", IsAlnum, 20, 255, "stripe_key"},
    {"rzp_live_", IsAlnum, 14, 24, "razorpay_key"},
    {"rubygems_", IsHex, 48, 48, "rubygems_key"},
    {"sbp_", IsHex, 40, 40, "supabase_token"},
    {"secret_", IsAlnum, 43, 43, "notion_token"},
    {"sgp_", IsWord, 40, 64, "sourcegraph_token"},
    {"shippo_live_", IsHex, 40, 40, "shippo_token"},
    {"shpat_", IsHex, 32, 32, "shopify_token"},
    {"shpca_", IsHex, 32, 32, "shopify_token"},
    {"shppa_", IsHex, 32, 32, "shopify_token"},
    {"shpss_", IsHex, 32, 32, "shopify_token"},
    {"sk-ant-", IsUrlSafe, 20, 255, "anthropic_key"},
    {"sk-", IsUrlSafe, 20, 255, "openai_key"},
    {"sk_live_", IsAlnum, 20, 255, "stripe_key"},
    {"sk_test_", IsAlnum, 20, 255, "stripe_key"},
    {"sl.", IsUrlSafe, 100, kAny, "dropbox_token"},
    {"sntrys_", IsBase64, 60, kAny, "sentry_token"},
    {"sntryu_", IsHex, 64, 64, "sentry_token"},
    {"sqp_", IsHex, 40, 40, "sonarqube_token"},
    {"squ_", IsHex, 40, 40, "sonarqube_token"},
    {"sq0atp-", IsUrlSafe, 22, 22, "square_token"},
    {"sq0csp-", IsUrlSafe, 43, 43, "square_token"},
    {"tskey-", IsUrlSafe, 28, 80, "tailscale_key"},
    {"tvly-", IsUrlSafe, 32, 48, "tavily_key"},
    {"v1.0-", IsUrlSafe, 150, 200, "cloudflare_key"},
    {"whsec_", IsBase64, 32, 64, "stripe_key"},
    {"xai-", IsAlnum, 60, 96, "xai_key"},
    {"xapp-", IsUrlSafe, 40, 160, "slack_token"},
    {"xkeysib-", IsUrlSafe, 70, 90, "brevo_key"},
    {"xoxa-", IsUrlSafe, 24, 255, "slack_token"},
    {"xoxb-", IsUrlSafe, 24, 255, "slack_token"},
    {"xoxe-", IsUrlSafe, 24, 255, "slack_token"},
    {"xoxe.", IsUrlSafeOrDot, 40, 255, "slack_token"},
    {"xoxo-", IsUrlSafe, 24, 255, "slack_token"},
    {"xoxp-", IsUrlSafe, 24, 255, "slack_token"},
    {"xoxr-", IsUrlSafe, 24, 255, "slack_token"},
    {"xoxs-", IsUrlSafe, 24, 255, "slack_token"},
    {"ya29.", IsUrlSafe, 40, 512, "google_token"},
};

}  // namespace dossier::secrets

#endif  // DOSSIER_BASE_TEXT_TOKEN_SHAPES_H_
