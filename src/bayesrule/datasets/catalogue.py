"""What is known of each real set: its columns, counts, gaps, source, licence, and who offers it.

These are facts about the sets, not copies of them. A set that does not agree with its entry is
refused, whatever it was read from. Licences are what the UCI repository says of its sets, as far
as is known; a set whose entry says unclear should not be passed on before someone has found out.

An OpenML entry is given only where OpenML's copy is known to hold the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping

from bayesrule.datasets.facts import Derived, Facts, Label, OpenML, Shipped

UCI = "CC BY 4.0 (UCI)"


def _words(text: str) -> tuple[str, ...]:
    """Split a list of column names written as prose."""
    return tuple(text.split())


def _ring_group(rings: Label | None) -> Label | None:
    """Group ring counts in five; what is no known count is left for the check to find."""
    for low, high in ((1, 4), (5, 10), (11, 15), (16, 20), (21, 29)):
        if isinstance(rings, int) and low <= rings <= high:
            return f"rings_{low:02d}_{high:02d}"
    return rings


_CELL_NUCLEUS = """radius texture perimeter area smoothness compactness concavity concave_points
    symmetry fractal_dimension"""
_ABALONE = _words(
    "sex length diameter height whole_weight shucked_weight viscera_weight shell_weight"
)
# Animals by their number of rings: 1 with one ring, 1 with two, 15 with three, ... and 1 with 29.
_RINGS: Mapping[Label, int] = {
    rings: int(animals)
    for rings, animals in zip(
        (*range(1, 28), 29),
        _words(
            "1 1 15 57 115 259 391 568 689 634 487 267 203 126 103 67 58 42 32 26 14 6 9 2 1 1 2 1"
        ),
        strict=True,
    )
}
_MUSHROOM = _words(
    """cap_shape cap_surface cap_color bruises odor gill_attachment gill_spacing gill_size
    gill_color stalk_shape stalk_root stalk_surface_above_ring stalk_surface_below_ring
    stalk_color_above_ring stalk_color_below_ring veil_type veil_color ring_number ring_type
    spore_print_color population habitat"""
)
_SPAM_WORDS = """make address all 3d our over remove internet order mail receive will people report
    addresses free business email you credit your font 000 money hp hpl george 650 lab labs telnet
    857 data 415 85 technology 1999 parts pm direct cs meeting original project re edu table
    conference"""

CATALOGUE: Mapping[str, Facts] = {
    "iris": Facts(
        source="Iris (Fisher 1936), scikit-learn's values",
        licence=UCI,
        columns=_words("sepal_length sepal_width petal_length petal_width"),
        counts={"setosa": 50, "versicolor": 50, "virginica": 50},
        checksum=9412.0,
        shipped=Shipped("load_iris", ("setosa", "versicolor", "virginica")),
    ),
    "wine": Facts(
        source="Wine (Forina et al.)",
        licence=UCI,
        columns=_words(
            """alcohol malic_acid ash alcalinity_of_ash magnesium total_phenols flavanoids
            nonflavanoid_phenols proanthocyanins color_intensity hue od280_od315_of_diluted_wines
            proline"""
        ),
        counts={"cultivar_1": 59, "cultivar_2": 71, "cultivar_3": 48},
        checksum=3246149.42197,
        shipped=Shipped("load_wine", ("cultivar_1", "cultivar_2", "cultivar_3")),
    ),
    "breast_cancer_wdbc": Facts(
        source="Breast Cancer Wisconsin (Diagnostic)",
        licence=UCI,
        columns=tuple(
            f"{measure}_{of}" for of in ("mean", "se", "worst") for measure in _words(_CELL_NUCLEUS)
        ),
        counts={"benign": 357, "malignant": 212},
        checksum=25312468.9883201,
        shipped=Shipped("load_breast_cancer", ("malignant", "benign")),
    ),
    "pima_diabetes": Facts(
        source="Pima Indians Diabetes (NIDDK; Smith et al. 1988)",
        licence="licence unclear: withdrawn from UCI, none in the copies",
        columns=_words(
            """pregnancies glucose blood_pressure skin_thickness insulin bmi diabetes_pedigree
            age"""
        ),
        counts={"no_diabetes": 500, "diabetes": 268},
        checksum=1713964.276,
        openml=OpenML(37, {"tested_negative": "no_diabetes", "tested_positive": "diabetes"}),
    ),
    "heart_cleveland": Facts(
        source="Heart Disease, Cleveland (processed)",
        licence=UCI,
        columns=_words(
            """age sex chest_pain_type resting_bp cholesterol fasting_blood_sugar_gt_120
            resting_ecg max_heart_rate exercise_angina st_depression st_slope major_vessels thal"""
        ),
        counts={"absence": 164, "presence": 139},
        checksum=1381805.0,
        missing={"major_vessels": 4, "thal": 2},
        no_openml="the copy known as heart-c repeats one row in place of another",
    ),
    "raisin": Facts(
        source="Raisin (Cinar, Koklu, Tasdemir 2020)",
        licence=UCI,
        columns=_words(
            """area major_axis_length minor_axis_length eccentricity convex_area extent
            perimeter"""
        ),
        counts={"kecimen": 450, "besni": 450},
        checksum=678257632.0513408,
    ),
    "zoo": Facts(
        source="Zoo (Forsyth)",
        licence=UCI,
        columns=_words(
            """hair feathers eggs milk airborne aquatic predator toothed backbone breathes venomous
            fins legs tail domestic catsize"""
        ),
        counts={
            "mammal": 41,
            "bird": 20,
            "fish": 13,
            "invertebrate": 10,
            "insect": 8,
            "reptile": 5,
            "amphibian": 4,
        },
        checksum=42158.0,
        openml=OpenML(62, cells={"false": "0", "true": "1"}),
    ),
    "glass": Facts(
        source="Glass Identification (German)",
        licence=UCI,
        columns=_words(
            "refractive_index sodium magnesium aluminum silicon potassium calcium barium iron"
        ),
        counts={
            "building_windows_non_float": 76,
            "building_windows_float": 70,
            "headlamps": 29,
            "vehicle_windows_float": 17,
            "containers": 13,
            "tableware": 9,
        },
        checksum=247996.59174,
        openml=OpenML(
            41,
            {
                "build wind float": "building_windows_float",
                "build wind non-float": "building_windows_non_float",
                "vehic wind float": "vehicle_windows_float",
            },
        ),
    ),
    "dermatology": Facts(
        source="Dermatology (Ilter, Guvenir)",
        licence=UCI,
        columns=_words(
            """erythema scaling definite_borders itching koebner_phenomenon polygonal_papules
            follicular_papules oral_mucosal_involvement knee_and_elbow_involvement
            scalp_involvement family_history melanin_incontinence eosinophils_in_infiltrate
            pnl_infiltrate fibrosis_of_papillary_dermis exocytosis acanthosis hyperkeratosis
            parakeratosis clubbing_of_rete_ridges elongation_of_rete_ridges
            thinning_of_suprapapillary_epidermis spongiform_pustule munro_microabscess
            focal_hypergranulosis disappearance_of_granular_layer
            vacuolisation_and_damage_of_basal_layer spongiosis saw_tooth_appearance_of_retes
            follicular_horn_plug perifollicular_parakeratosis inflammatory_mononuclear_infiltrate
            band_like_infiltrate age"""
        ),
        counts={
            "psoriasis": 112,
            "lichen_planus": 72,
            "seborrheic_dermatitis": 61,
            "chronic_dermatitis": 52,
            "pityriasis_rosea": 49,
            "pityriasis_rubra_pilaris": 20,
        },
        checksum=2120153.0,
        missing={"age": 8},
        openml=OpenML(
            35,
            {
                "1": "psoriasis",
                "2": "seborrheic_dermatitis",
                "3": "lichen_planus",
                "4": "pityriasis_rosea",
                "5": "chronic_dermatitis",
                "6": "pityriasis_rubra_pilaris",
            },
        ),
    ),
    "ionosphere": Facts(
        source="Ionosphere (Sigillito)",
        licence=UCI,
        columns=tuple(
            f"pulse{pulse:02d}_{part}" for pulse in range(1, 18) for part in ("re", "im")
        ),
        counts={"good": 225, "bad": 126},
        checksum=74558.34341,
        openml=OpenML(59, {"g": "good", "b": "bad"}),
    ),
    "ecoli": Facts(
        source="Ecoli (Nakai, Horton)",
        licence=UCI,
        columns=_words("mcg gvh lip chg aac alm1 alm2"),
        counts={"cp": 143, "im": 77, "pp": 52, "imU": 35, "om": 20, "omL": 5, "imS": 2, "imL": 2},
        checksum=15286.8,
        openml=OpenML(39),
    ),
    "breast_cancer_wisconsin_original": Facts(
        source="Breast Cancer Wisconsin (Original; Wolberg)",
        licence=UCI,
        columns=_words(
            """clump_thickness cell_size_uniformity cell_shape_uniformity marginal_adhesion
            single_epithelial_cell_size bare_nuclei bland_chromatin normal_nucleoli mitoses"""
        ),
        counts={"benign": 458, "malignant": 241},
        checksum=149985.0,
        missing={"bare_nuclei": 16},
        openml=OpenML(15),
    ),
    "spambase": Facts(
        source="Spambase (Hopkins et al.)",
        licence=UCI,
        columns=(
            *(f"word_freq_{word}" for word in _words(_SPAM_WORDS)),
            *(
                f"char_freq_{sign}"
                for sign in _words("semicolon parenthesis bracket exclamation dollar hash")
            ),
            *(f"capital_run_length_{what}" for what in ("average", "longest", "total")),
        ),
        counts={"nonspam": 2788, "spam": 1813},
        checksum=150653387.414,
        openml=OpenML(44, {"0": "nonspam", "1": "spam"}),
    ),
    "satimage": Facts(
        source="Statlog (Landsat Satellite)",
        licence=UCI,
        columns=tuple(f"pixel{pixel}_band{band}" for pixel in range(1, 10) for band in range(1, 5)),
        counts={
            "red_soil": 1533,
            "very_damp_grey_soil": 1508,
            "grey_soil": 1358,
            "vegetation_stubble": 707,
            "cotton_crop": 703,
            "damp_grey_soil": 626,
        },
        checksum=1343950125.0,
        no_openml="OpenML's copy (182) has 6430 of the 6435 rows",
    ),
    "sms_spam": Facts(
        source="SMS Spam Collection v.1 (Almeida, Gomez Hidalgo)",
        licence="CC BY 4.0 (UCI); authors: free for all purposes",
        columns=("text",),
        counts={"ham": 4827, "spam": 747},
        checksum=558001.0,
        text=("text",),
    ),
    "mushroom": Facts(
        source="Mushroom (Audubon Society field guide; Schlimmer)",
        licence=UCI,
        columns=_MUSHROOM,
        counts={"edible": 4208, "poisonous": 3916},
        checksum=3002684.0,
        text=_MUSHROOM,
        missing={"stalk_root": 2480},
        openml=OpenML(24, {"e": "edible", "p": "poisonous"}),
    ),
    "adult": Facts(
        source="Adult / Census Income (Becker, Kohavi)",
        licence=UCI,
        columns=_words(
            """age workclass fnlwgt education education_num marital_status occupation relationship
            race sex capital_gain capital_loss hours_per_week native_country"""
        ),
        counts={"<=50K": 37155, ">50K": 11687},
        checksum=35648731185.0,
        text=_words(
            """workclass education marital_status occupation relationship race sex
            native_country"""
        ),
        missing={"workclass": 2799, "occupation": 2809, "native_country": 857},
        openml=OpenML(1590),
    ),
    "abalone": Facts(
        source="Abalone (Nash et al.)",
        licence=UCI,
        columns=_ABALONE,
        counts=_RINGS,
        checksum=598328.216,
        text=("sex",),
        openml=OpenML(183),
    ),
    "abalone_5class": Facts(
        source="Abalone (Nash et al.), rings grouped in five as in Gilet et al.",
        licence=UCI,
        columns=_ABALONE,
        counts={
            "rings_05_10": 2656,
            "rings_11_15": 1186,
            "rings_16_20": 225,
            "rings_01_04": 74,
            "rings_21_29": 36,
        },
        checksum=140967.813,
        text=("sex",),
        derived=Derived("abalone", _ring_group),
    ),
    "framingham": Facts(
        source="Framingham Heart Study, 10-year CHD teaching extract (NHLBI)",
        licence="licence unclear: none in any copy",
        columns=_words(
            """male age education current_smoker cigs_per_day bp_meds prevalent_stroke
            prevalent_hyp diabetes tot_chol sys_bp dia_bp bmi heart_rate glucose"""
        ),
        counts={"no_chd": 3596, "chd": 644},
        checksum=58180345.96,
        missing={
            "education": 105,
            "cigs_per_day": 29,
            "bp_meds": 53,
            "tot_chol": 50,
            "bmi": 19,
            "heart_rate": 1,
            "glucose": 388,
        },
    ),
}
