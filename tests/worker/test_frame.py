import unittest

from base import WorkerTest
from fake_host import Text

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

    def test_options_are_done_or_refused_by_name(self) -> None:
        cases = [("df.drop_duplicates('city', keep='last')['size'].tolist()", [5.0, None, 2.5]),
                 ("len(df.drop_duplicates('city', keep=False))", 2),
                 ("len(df.dropna(how='all')), len(df.dropna(subset=['size']))", (4, 3)),
                 ("pd.DataFrame({'a': [1, 2], 'b': [3, None], 'c': ['x', 'y']}).sum(axis=1).tolist()",
                  [4, 2]),
                 ("pd.DataFrame({'a': [1, 2], 'b': [3, None]}).mean(axis=1).tolist()", [2, 2]),
                 ("pd.concat([df[['city']], df['size'] * 2], axis=1).columns", ["city", "size"]),
                 ("len(pd.concat([df, df], ignore_index=True)), pd.concat([df, df]).index[-1]", (8, 3)),
                 ("df['size'].value_counts(dropna=False).to_dict()", {3: 1, 5: 1, None: 1, 2.5: 1}),
                 ("df['city'].value_counts(ascending=True).index[-1]", "Bonn"),
                 ("df['city'].value_counts(normalize=True)['Bonn']", 0.5),
                 ("df['city'].value_counts().reset_index().columns", ["city", "count"]),
                 ("df.groupby('city')['size'].sum().reset_index()['city'].tolist()",
                  ["Bonn", "Kiel", "Ulm"]),
                 ("df.groupby('city').size().reset_index(name='n')['n'].tolist()", [2, 1, 1]),
                 ("df['city'].str.contains('BONN', case=False).sum()", 2),
                 ("df['city'].str.contains('.', regex=False).sum()", 0),
                 ("df['city'].str.replace('.', '', regex=False).tolist()[0]", "Bonn"),
                 ("df.fillna({'size': 0})['size'].sum(), df.fillna(value=1)['size'].sum()",
                  (10.5, 11.5)),
                 ("df['size'].sort_values(ascending=False).tolist()", [5.0, 3.0, 2.5, None]),
                 ("np.average([1, 3], weights=[3, 1]), np.std([1, 3], ddof=0)", (1.5, 1.0)),
                 ("round(np.std([1, 3], ddof=1), 3), round(pd.Series([1, 3]).std(), 3)",
                  (1.414, 1.414)),
                 ("pd.Series([1, 3]).std(ddof=0)", 1.0),
                 ("np.unique([2, 1, 2], return_counts=True)", ([1, 2], [1, 2])),
                 ("pd.to_numeric(pd.Series(['1', 'x', '1_0']), errors='coerce').tolist()",
                  [1, None, None]),
                 ("(df['size'] - df.sort_values('size')['size']).dropna().unique()", [0.0]),
                 ("df[df.sort_values('size')['size'] > 4]['city'].tolist()", ["Kiel"])]
        for expression, expected in cases:
            self.assertEqual(self.value(expression), expected, expression)
        self.assertEqual(self.printed("x = df.copy()\nx.sort_values('size', inplace=True)\n"
                                      "x.dropna(inplace=True)\nx.reset_index(drop=True, inplace=True)\n"
                                      "x.rename(columns={'city': 'town'}, inplace=True)\n"
                                      "print(x.town.tolist(), x.index, len(df))"),
                         "['Ulm', 'Bonn', 'Kiel'] [0, 1, 2] 4\n")
        for code, option in (("df['size'].fillna(0, inplace=True)", "inplace=True"),
                             ("df.groupby('city', dropna=False)", "dropna=False"),
                             ("df.groupby('city', as_index=False)", "as_index=False"),
                             ("df.sort_values('city', key=len)", "key="),
                             ("df['size'].sum(skipna=False)", "skipna=False"),
                             ("df.groupby('city')['size'].sum(min_count=2)", "min_count=2"),
                             ("np.mean([1], axis=1)", "axis=1"),
                             ("pd.read_csv('sales.csv', parse_dates=['day'])", "parse_dates="),
                             ("df['city'].str.contains('x', na='a')", None)):
            if option is None:
                self.assertEqual(self.run_block(code)["status"], "ok")
                continue
            error = self.error(code)
            self.assertEqual(error["type"], "TypeError", code)
            self.assertIn(f"does not do {option}", error["message"], code)

    def test_a_csv_file_is_read_as_pandas_reads_it(self) -> None:
        texts = {"a.csv": "# made\nid,n,flag,w,w\n1,10_00,True,5,1\n2,N/A,False,\"1,000\",2\n3,7,True,n/a,3\n"
                          "total,9,True,9,9\n",
                 "bad.csv": "a,b\n1,2\n3,4,5\n", "plain.csv": "1;x\n2;y\n"}
        self.start([Text(name, text, None, True) for name, text in texts.items()])
        self.run_block("import pandas as pd\nread = lambda **o: pd.read_csv('a.csv', skiprows=1, sep=',', **o)")
        for expression, expected in (
                ("read()['n'].tolist()", ["10_00", None, "7", "9"]),
                ("read().columns", ["id", "n", "flag", "w", "w.1"]),
                ("len(read()[read().flag])", 3),
                ("read(skipfooter=1)['id'].sum(), len(read(nrows=2))", (6, 2)),
                ("read(thousands=',')['w'].tolist()", [5, 1000, None, 9]),
                ("read(usecols=['id', 'n']).columns", ["id", "n"]),
                ("read(index_col='id').loc['2', 'w.1'], read(index_col=0).columns[0]", (2, "n")),
                ("read(skipfooter=1, dtype=str)['id'].tolist()", ["1", "2", "3"]),
                ("read(dtype={'w.1': str})['w.1'].tolist()[0]", "1"),
                ("read(na_values=['7'])['n'].count(), read(keep_default_na=False)['n'].count()", (2, 4)),
                ("[len(part) for part in read(chunksize=3)]", [3, 1]),
                ("pd.read_csv('plain.csv', sep=';', header=None)[1].tolist()", ["x", "y"]),
                ("pd.read_csv('plain.csv', sep=';', names=['k', 'v'])['k'].sum()", 3),
                ("len(pd.read_csv('bad.csv', on_bad_lines='skip'))", 1)):
            self.assertEqual(self.value(expression), expected, expression)
        self.assertIn("3 cells and the header 2", self.error("pd.read_csv('bad.csv')")["message"])

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
