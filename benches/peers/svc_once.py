"""Time one fit of scikit-learn's SVC (LIBSVM) and its test error.

    python svc_once.py TRAIN TEST SIGMA LAMBDA

TRAIN and TEST are CSV files with feature columns and `label`; C = 1/(2 n lambda).
"""

import sys
import time

import pandas as pd
from sklearn.svm import SVC

train, test = (pd.read_csv(path) for path in sys.argv[1:3])
sigma, penalty = (float(x) for x in sys.argv[3:5])
x, y = train.drop(columns="label").to_numpy(), train["label"].to_numpy()
classifier = SVC(C=1 / (2 * len(y) * penalty), gamma=sigma, cache_size=4000)
start = time.perf_counter()
classifier.fit(x, y)
seconds = time.perf_counter() - start
wrong = classifier.predict(test.drop(columns="label").to_numpy()) != test["label"].to_numpy()
print(f"SVC {seconds:.2f} s, test error {100 * wrong.mean():.2f} %")
