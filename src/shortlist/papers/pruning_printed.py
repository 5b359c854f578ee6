"""What :cite:t:`Bastos2022` prints: Tables 2 to 6, and the counts of its Sections 5.4 and 5.5."""

ACCURACY_METHODS = ("F1", "F2", "F3", "BFT", "HC-CON", "HC-UWA", "FE")
"""The columns of Table 4, which are ranked together: its rows sum to 28."""

BALANCED_METHODS = ("F1", "F1-theta", "BFT", "HC-CON", "HC-UWA", "FE")
"""The columns of Tables 5 and 6, which are ranked together: the rows of Table 6 sum to 21."""

BENCHMARKS = ("BFT", "HC-CON", "HC-UWA", "FE")

SETS = {
    "PRK": ("Parkinsons", 23, 195, 48, 147, 0.77),
    "MSK": ("Musk (Version 1)", 168, 476, 269, 207, 0.44),
    "BCW": ("Breast Cancer Wisconsin", 32, 569, 357, 212, 0.37),
    "QSR": ("QSAR biodegradation", 41, 1055, 356, 699, 0.66),
    "DRD": ("Diabetic Retinopathy Debrecen", 20, 1151, 540, 611, 0.53),
    "SPA": ("Spambase", 57, 4601, 2788, 1813, 0.39),
    "DEF": ("Default of credit card clients", 24, 30000, 23364, 6636, 0.22),
    "BMK": ("Bank Marketing", 21, 41188, 36548, 4640, 0.11),
    "APS": ("APS Failure at Scania Trucks", 171, 60000, 59000, 1000, 0.02),
}
"""Table 2: name, features, N, negative and positive rows, and the share of the positive ones."""

GAPS = {
    "PRK": (26, 0.0, 0.0, 0.0, 0.0),
    "BCW": (129, 0.0, 0.0, 0.0, 0.0),
    "MSK": (154, 0.0, 0.0, 0.0, 0.0),
    "QSR": (285, 0.0, 0.0, 0.0, 0.1),
    "DRD": (311, 4.3, 2.0, 6.1, 1.8),
    "SPA": (1242, 0.0, 0.0, 0.2, 0.2),
    "DEF": (8100, 6.7, 0.4, 6.9, 0.4),
    "BMK": (11121, 5.4, 0.3, 5.5, 0.2),
    "APS": (16200, 0.1, 0.0, 0.1, 0.0),
}
"""Table 3, of 100 classifiers: 27 % of N, then mean and deviation of the gap in per cent, of F1 and F3."""

RANKS: dict[str, dict[int, tuple[float, ...]]] = {
    "accuracy": {
        40: (3.82, 3.74, 3.79, 4.04, 3.71, 3.66, 5.25),
        60: (3.82, 3.70, 3.76, 4.03, 3.66, 3.66, 5.39),
        80: (3.82, 3.80, 3.75, 4.09, 3.54, 3.58, 5.42),
        100: (3.91, 3.72, 3.72, 4.07, 3.55, 3.56, 5.48),
    },
    "balanced_accuracy": {
        60: (2.88, 2.45, 3.97, 3.29, 3.40, 5.02),
        80: (2.92, 2.39, 3.97, 3.25, 3.38, 5.09),
        100: (2.97, 2.41, 4.00, 3.20, 3.36, 5.06),
    },
}
"""Tables 4 and 6: mean ranks by number of classifiers."""

MEAN_RANKS = {
    "accuracy": (3.84, 3.74, 3.75, 4.06, 3.61, 3.61, 5.38),
    "balanced_accuracy": (2.94, 2.40, 3.97, 3.27, 3.39, 5.03),
}
"""Their last rows, over all four numbers of classifiers, although Table 6 does not print the row of 40."""

BALANCED = {
    ("DRD", 80): ((0.7457, 0.7468, 0.7503, 0.7525, 0.7525, 0.7126), (64, 46, 57, 65, 72, 77)),
    ("DRD", 100): ((0.7404, 0.7466, 0.7479, 0.7506, 0.7551, 0.7148), (88, 93, 63, 75, 57, 75)),
    ("SPA", 80): ((0.9504, 0.9521, 0.9488, 0.9512, 0.9493, 0.9403), (21, 18, 17, 17, 20, 9)),
    ("SPA", 100): ((0.9500, 0.9517, 0.9485, 0.9515, 0.9493, 0.9402), (22, 25, 20, 15, 18, 8)),
    ("DEF", 80): ((0.6662, 0.6985, 0.6484, 0.6553, 0.6557, 0.6484), (14, 16, 20, 9, 11, 11)),
    ("DEF", 100): ((0.6661, 0.6992, 0.6482, 0.6542, 0.6560, 0.6473), (19, 14, 18, 20, 7, 12)),
    ("BMK", 80): ((0.7765, 0.8684, 0.7322, 0.7477, 0.7469, 0.6822), (55, 15, 46, 28, 18, 36)),
    ("BMK", 100): ((0.7794, 0.8694, 0.7363, 0.7478, 0.7479, 0.6762), (53, 12, 40, 29, 18, 31)),
    ("APS", 80): ((0.8731, 0.9395, 0.8398, 0.8535, 0.8500, 0.8021), (39, 38, 45, 33, 40, 37)),
    ("APS", 100): ((0.8735, 0.9416, 0.8447, 0.8562, 0.8513, 0.8006), (53, 41, 64, 40, 32, 32)),
}
"""Table 5: mean balanced accuracy of the methods of Table 6, and its deviation in ten-thousandths."""

BALANCED_AVERAGE = ((0.8433, 0.8665, 0.8313, 0.8397, 0.8383, 0.8111), (80, 63, 69, 75, 76, 57))
"""Its last row, over all nine sets and four numbers of classifiers."""
