import unittest

from base import WorkerTest

CSV = "city,size,day\nBonn,3,a\nKiel,5,b\nBonn,,a\nUlm,2.5,c\n"


class FrameTest(WorkerTest):
    """small-models 2: what models do with pandas by habit works, or says what to use."""

    texts = [("sales.csv", CSV, None, True),
             ("log.ndjson", '{"s": "x", "n": 1, "u": {"a": 5}}\n{"s": "y", "n": null}\n')]

    def setUp(self) -> None:
        super().setUp()
        self.run_block("import pandas as pd\nimport numpy as np\ndf = pd.read_csv('sales.csv')\n"
                       "logs = pd.read_json('log.ndjson', lines=True)")

    def test_the_commonest_operations(self) -> None:
        cases = [("len(df), df.shape, df.columns", (4, (4, 3), ["city", "size", "day"])),
                 ("df['size'].tolist()", [3.0, 5.0, None, 2.5]),
                 ("df['size'].sum(), df['size'].max(), df['size'].count()", (10.5, 5.0, 3)),
                 ("df['size'].mean(), df['size'].median()", (3.5, 3.0)),
                 ("df[df['size'] > 2.6]['city'].tolist()", ["Bonn", "Kiel"]),
                 ("df[(df['size'] > 2) & (df.city == 'Bonn')].shape[0]", 1),
                 ("df[~df['city'].isin(['Bonn'])]['day'].tolist()", ["b", "c"]),
                 ("df['city'].value_counts().to_dict()", {"Bonn": 2, "Kiel": 1, "Ulm": 1}),
                 ("df['city'].value_counts().idxmax()", "Bonn"),
                 ("df['city'].value_counts().index[0]", "Bonn"),
                 ("df['city'].nunique(), df['city'].unique()", (3, ["Bonn", "Kiel", "Ulm"])),
                 ("df.groupby('city')['size'].sum().to_dict()",
                  {"Bonn": 3.0, "Kiel": 5.0, "Ulm": 2.5}),
                 ("df.groupby('city').size().sort_values(ascending=False).head(1).to_dict()",
                  {"Bonn": 2}),
                 ("df.groupby(['city', 'day'])['size'].mean().idxmax()", ("Kiel", "b")),
                 ("df.groupby('city').agg({'size': 'max'})['size'].tolist()", [3.0, 5.0, 2.5]),
                 ("df.loc[df['size'].idxmax(), 'city']", "Kiel"),
                 ("df.loc[df['size'].idxmax()]['city']", "Kiel"),
                 ("df.iloc[0]['city'], df.iloc[-1]['size']", ("Bonn", 2.5)),
                 ("df.sort_values('size', ascending=False)['city'].tolist()",
                  ["Kiel", "Bonn", "Ulm", "Bonn"]),
                 ("df.nlargest(1, 'size')['city'].iloc[0]", "Kiel"),
                 ("df['city'].str.contains('on').sum()", 2),
                 ("df['city'].str.lower().tolist()[0]", "bonn"),
                 ("df['size'].isnull().sum(), len(df.dropna())", (1, 3)),
                 ("[row['city'] for _, row in df.iterrows()][1]", "Kiel"),
                 ("df.to_dict('records')[0]", {"city": "Bonn", "size": 3.0, "day": "a"}),
                 ("pd.DataFrame(records)['n'].tolist()", [1, None]),
                 ("logs['u.a'].tolist()", [5, None]),
                 ("np.mean([1, 2, 3])", 2.0)]
        for expression, expected in cases:
            self.assertEqual(self.value(expression), expected, expression)

    def test_it_prints_as_a_table(self) -> None:
        self.assertEqual(self.printed("print(df.head(2))"),
                         "   city  size  day\n0  Bonn  3.0   a\n1  Kiel  5.0   b\n"
                         "[2 rows x 3 columns]\n")

    def test_columns_can_be_added(self) -> None:
        self.assertEqual(self.printed("df['twice'] = df['size'] * 2\ndf['k'] = 1\n"
                                      "print(df.twice.tolist(), df['k'].sum())"),
                         "[6.0, 10.0, None, 5.0] 4\n")

    def test_what_is_missing_names_the_way(self) -> None:
        self.assertIn("did you mean 'city'", self.error("df['cty']")["message"])
        for code in ("df.pivot_table()", "df['size'].rolling(3)", "pd.merge(df, df)",
                     "np.array([1])", "df.groupby('city').rolling(2)"):
            self.assertIn("use plain Python over `records`", self.error(code)["message"], code)

    def test_made_up_frames_are_refused(self) -> None:
        result = self.runtime.run_block("import pandas as pd\n"
                                        "t = pd.DataFrame([{'a': 1}])\nprint(t['a'].sum())", 9)
        self.assertEqual(result["status"], "not_run")


if __name__ == "__main__":
    unittest.main()
