"""List every best trade-off of a product line, and find the product for one customer."""

from pathlib import Path
from tempfile import TemporaryDirectory

from shortlist.products import Requirements, chosen_attributes, configure, model_attributes, read_model

PHONE = """
features
    Phone
        mandatory
            Battery
                alternative
                    Small {cost 12, grams 30}
                    Large {cost 25, grams 55}
        optional
            Camera {cost 18, grams 9}
            Stylus {cost 9, grams 7}
            Solar {cost 22, grams 15}
constraints
    Solar => Large
"""

with TemporaryDirectory() as folder:
    file = Path(folder) / "phone.uvl"
    file.write_text(PHONE, encoding="utf-8")
    model = read_model(file)

names = ["cost", "grams"]
attributes = chosen_attributes(names, [model_attributes(model)], model, defaults=dict.fromkeys(names, 0))
answer = configure(model, "max selected, min cost, min grams", attributes=attributes)
print(f"{len(answer.front)} best trade-offs, {answer.front.proof.kind}")
print(answer.front.to_frame().to_string(index=False))

# this customer wants a camera, and pays at most 50
wanted = Requirements(select=(model.names.index("Camera"),))
answer = configure(model, "min grams", attributes=attributes, requirements=wanted, limits=["cost<=50"])
point = answer.front.point(0)
features = [name for name, has in zip(answer.front.candidates, point.decision, strict=True) if has]
print(f"for this customer: {', '.join(features)}, {point.values}")
